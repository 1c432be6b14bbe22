package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.spi.StoreUrl;
import io.pawl.sql.dialect.Databases;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** What a queue costs whose rows come and go. */
class QueueScanTest {

  private static final String LOCK = "scanned";

  /** Any other scan would meet each of them again. */
  @Test
  void postgresPassesOverRowsThatWereDeletedFromAQueue() throws SQLException {
    TestDatabase database = TestDatabase.POSTGRES;
    try (SqlStore store = database.open();
        Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      store.show(LOCK).toCompletableFuture().join();
      statement.execute(
          "INSERT INTO pawl_waiter (lock_name, claims) SELECT '"
              + LOCK
              + "', '[]' FROM generate_series(1, 20000)");
      statement.execute("DELETE FROM pawl_waiter WHERE lock_name = '" + LOCK + "'");

      assertThat(explain(connection))
          .contains("Index Scan using pawl_waiter_by_lock")
          .doesNotContain("Bitmap", "Seq Scan", "Sort");
      Awaitility.await("once nobody has an older snapshot")
          .atMost(Duration.ofSeconds(60))
          .until(() -> pages(explain(connection)) < 1_000);
    }
  }

  private static String explain(Connection connection) throws SQLException {
    StoreUrl url = StoreUrl.parse(TestDatabase.POSTGRES.url());
    String read = Databases.at(JdbcProvider.connections(url)).dialect().readWaiters(1);
    List<String> statements = List.of(read.split("; "));
    StringBuilder plan = new StringBuilder();
    connection.setAutoCommit(false);
    try (Statement settings = connection.createStatement()) {
      for (String setting : statements.subList(0, statements.size() - 1)) {
        settings.execute(setting);
      }
      String last = statements.get(statements.size() - 1);
      try (PreparedStatement explained =
          connection.prepareStatement("EXPLAIN (ANALYZE, BUFFERS) " + last)) {
        explained.setString(1, LOCK);
        try (ResultSet lines = explained.executeQuery()) {
          while (lines.next()) {
            plan.append(lines.getString(1)).append('\n');
          }
        }
      }
    } finally {
      connection.commit();
      connection.setAutoCommit(true);
    }
    return plan.toString();
  }

  /** Those that the scan touched, without what planning did. */
  private static int pages(String plan) {
    String after = plan.substring(plan.indexOf("shared hit=") + "shared hit=".length());
    return Integer.parseInt(after.split("\\D", 2)[0]);
  }
}
