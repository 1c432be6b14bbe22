package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.sql.dialect.Database;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a queue costs whose rows come and go. */
class QueueScanTest {

  private static final String LOCK = "scanned";

  /** Any other scan would meet each of them again. */
  @Test
  void postgresPassesOverRowsThatWereDeletedFromAQueue() throws SQLException {
    TestDatabase database = TestDatabase.POSTGRES;
    Database ours = database.database();
    try (SqlStore store = database.open();
        Connection applications = database.connect();
        Statement statement = applications.createStatement();
        Session session = new Session(ours)) {
      store.show(LOCK).toCompletableFuture().join();
      statement.execute(
          "INSERT INTO pawl_waiter (lock_name, claims) SELECT '"
              + LOCK
              + "', '[]' FROM generate_series(1, 20000)");
      statement.execute("DELETE FROM pawl_waiter WHERE lock_name = '" + LOCK + "'");
      String read = ours.dialect().readWaiters(1);

      passesOver(session.connection(), session.opening(), read);
      passesOver(applications, ours.dialect().frame().begin(), read);
    }
  }

  private static void passesOver(Connection connection, String begin, String read)
      throws SQLException {
    assertThat(explain(connection, begin, read))
        .contains("Index Scan using pawl_waiter_by_lock")
        .doesNotContain("Bitmap", "Seq Scan", "Sort");
    Awaitility.await("once nobody has an older snapshot")
        .atMost(Duration.ofSeconds(60))
        .until(() -> pages(explain(connection, begin, read)) < 1_000);
  }

  private static String explain(Connection connection, String begin, String read)
      throws SQLException {
    StringBuilder plan = new StringBuilder();
    try (Statement statement = connection.createStatement();
        PreparedStatement explained =
            connection.prepareStatement("EXPLAIN (ANALYZE, BUFFERS) " + read)) {
      statement.execute(begin);
      explained.setString(1, LOCK);
      try (ResultSet lines = explained.executeQuery()) {
        while (lines.next()) {
          plan.append(lines.getString(1)).append('\n');
        }
      } finally {
        statement.execute("COMMIT");
      }
    }
    return plan.toString();
  }

  /** Those that the scan touched, without what planning did. */
  private static int pages(String plan) {
    String after = plan.substring(plan.indexOf("shared hit=") + "shared hit=".length());
    return Integer.parseInt(after.split("\\D", 2)[0]);
  }
}
