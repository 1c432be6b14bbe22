package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What was reserved before a long night, when nobody used the counters. */
class DueReservationsTest {

  private static final int COUNTERS = 4;
  private static final int DUE = 700;

  /** PostgreSQL tells which transaction has written a row. */
  @Test
  void ofManyCountersTogetherTheyReturnInTransactionsOfBoundedSize() throws Exception {
    try (Pawl pawl = Pawl.connect(TestDatabase.POSTGRES.url());
        Connection connection = TestDatabase.POSTGRES.connect();
        Statement statement = connection.createStatement()) {
      Map<String, Long> amounts = new TreeMap<>();
      for (int i = 0; i < COUNTERS; i++) {
        String counter = "due-" + i;
        amounts.put(counter, 1L);
        reserve(statement, counter);
      }

      assertThat(pawl.tryTakeAll(amounts, OperationId.of("due-basket")).isApplied()).isTrue();

      for (String counter : amounts.keySet()) {
        assertThat(pawl.counter(counter).get()).isEqualTo(DUE - 1);
      }
      assertThat(mostLinesOfOneTransaction(statement)).isBetween(1L, 1_000L + COUNTERS);
    }
  }

  private static void reserve(Statement statement, String counter) throws SQLException {
    String numbered = " FROM generate_series(1, " + DUE + ") AS n";
    statement.execute(
        "INSERT INTO pawl_counter"
            + " (name, value, floor, ceiling, reserved, forgotten, kept_from, last_line) VALUES ('"
            + (counter + "', 0, 0, 1000000, " + DUE + ", " + DUE + ", '1970-01-01', " + DUE + ")"));
    statement.execute(
        "INSERT INTO pawl_ledger"
            + " (counter, id, line, operation, status, delta, value, at, issued, until) SELECT '"
            + counter
            + "', 'r' || n, n, 'reserve 1 1000', 'reserved', -1, 0, '2026-01-01', '2026-01-01',"
            + " '2026-01-01 00:00:01'"
            + numbered);
    statement.execute(
        "INSERT INTO pawl_reservation (counter, until, id) SELECT '"
            + counter
            + "', '2026-01-01 00:00:01', 'r' || n"
            + numbered);
  }

  private static long mostLinesOfOneTransaction(Statement statement) throws SQLException {
    try (ResultSet most =
        statement.executeQuery(
            "SELECT max(n) FROM (SELECT count(*) AS n FROM pawl_ledger"
                + " WHERE counter LIKE 'due-%' GROUP BY xmin::text) AS each")) {
      most.next();
      return most.getLong(1);
    }
  }
}
