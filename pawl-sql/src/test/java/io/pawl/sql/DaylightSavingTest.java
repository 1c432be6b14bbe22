package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.MySqlDialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.lock.Row;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server's clocks are put forward or back while a statement waits for a row. */
class DaylightSavingTest {

  private static final int HOUR = 3_600;

  /** InnoDB renews what it shows of transactions once nobody has read it for 100 ms. */
  private static final Duration INNODB_LOOKS_AGAIN = Duration.ofMillis(150);

  private static final AtomicInteger names = new AtomicInteger();

  /** A zone whose offset changes at {@code edge}, in seconds since 1970. */
  private static String zone(Connection connection, int before, int after, long edge)
      throws SQLException {
    String zone = "Test/Edge" + names.incrementAndGet();
    try (Statement statement = connection.createStatement()) {
      statement.execute("INSERT INTO mysql.time_zone (Use_leap_seconds) VALUES ('N')");
      statement.execute("SET @zone = LAST_INSERT_ID()");
      statement.execute("INSERT INTO mysql.time_zone_name VALUES ('" + zone + "', @zone)");
      statement.execute(
          String.format(
              "INSERT INTO mysql.time_zone_transition_type VALUES"
                  + " (@zone, 0, %d, %d, 'BEF'), (@zone, 1, %d, %d, 'AFT')",
              before, before == 0 ? 0 : 1, after, after == 0 ? 0 : 1));
      statement.execute(
          "INSERT INTO mysql.time_zone_transition VALUES (@zone, 1, 0), (@zone, " + edge + ", 1)");
    }
    return zone;
  }

  @ParameterizedTest
  @CsvSource({"MYSQL,0,3600", "MYSQL,3600,0", "MARIADB,0,3600", "MARIADB,3600,0"})
  void theTimeReadUnderARowLockDoesNotJump(TestDatabase database, int before, int after)
      throws Exception {
    String lock = "dst-" + names.incrementAndGet();
    Dialect dialect =
        database == TestDatabase.MYSQL
            ? MySqlDialect.mySql(true, false)
            : MySqlDialect.mariaDb(true, false);
    try (SqlStore store = database.open();
        Connection owner = database.connect();
        Connection reader = database.connect();
        Connection onlooker = database.connect()) {
      store.attempt(Claims.claim(lock), standing -> {}).toCompletableFuture().get(60, SECONDS);
      long edge;
      CompletableFuture<Long> read;
      do {
        owner.setAutoCommit(false);
        askOf(owner, "SELECT last_token FROM pawl_lock WHERE name = '" + lock + "' FOR UPDATE");
        edge = askOf(onlooker, "SELECT UNIX_TIMESTAMP()") + 3;
        String zone = zone(onlooker, before, after, edge);
        askOf(reader, "SELECT CONNECTION_ID()");
        try (Statement statement = reader.createStatement()) {
          statement.execute("SET time_zone = '" + zone + "', innodb_lock_wait_timeout = 50");
        }
        read = CompletableFuture.supplyAsync(() -> lockedAt(dialect, reader, lock), OWN_THREAD);
        awaitUntil(
            onlooker,
            INNODB_LOOKS_AGAIN,
            "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state LIKE 'LOCK%'");
        if (askOf(onlooker, "SELECT UNIX_TIMESTAMP()") < edge) {
          break;
        }
        owner.rollback(); // this machine is too busy: once more
        read.get(60, SECONDS);
      } while (true);
      awaitUntil(onlooker, Duration.ofMillis(5), "SELECT UNIX_TIMESTAMP() > " + edge);
      long from = dialect.now(onlooker);
      owner.rollback();
      long time = read.get(60, SECONDS);
      assertThat(time).isBetween(from, dialect.now(onlooker));
      assertThat(dialect.now(onlooker))
          .isCloseTo(
              1_000 * askOf(onlooker, "SELECT UNIX_TIMESTAMP()"),
              org.assertj.core.data.Offset.offset(HOUR * 100L));
    }
  }

  private static final java.util.concurrent.Executor OWN_THREAD = task -> new Thread(task).start();

  private static long lockedAt(Dialect dialect, Connection reader, String lock) {
    try {
      reader.setAutoCommit(false);
      String sql = dialect.lockRows(Table.LOCK, 1, true);
      try (PreparedStatement select = reader.prepareStatement(sql)) {
        select.setString(1, lock);
        try (ResultSet row = select.executeQuery()) {
          assertThat(row.next()).isTrue();
          return row.getLong(Row.COLUMN_COUNT + 1);
        }
      } finally {
        reader.rollback();
        reader.setAutoCommit(true);
      }
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitUntil(Connection connection, Duration interval, String condition) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .pollInterval(interval)
        .until(() -> askOf(connection, condition) > 0);
  }

  private static long askOf(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }
}
