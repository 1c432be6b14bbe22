package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Whether a counter and its ledger agree, asked of the database without Pawl. */
final class Balance {

  /** As docs/SQL.md has it. */
  private static final String UNBALANCED =
      "SELECT c.name FROM pawl_counter c LEFT JOIN pawl_ledger l ON l.counter = c.name"
          + " WHERE c.name = ? GROUP BY c.name, c.value, c.floor, c.ceiling, c.reserved, c.forgotten"
          + " HAVING c.value <> c.forgotten + COALESCE(SUM(l.delta), 0)"
          + " OR c.value < c.floor OR c.value + c.reserved > c.ceiling"
          + " OR c.reserved <> -COALESCE(SUM(CASE WHEN l.status = 'reserved' THEN l.delta END), 0)";

  private Balance() {}

  static void assertOf(TestDatabase database, String counter) throws SQLException {
    try (Connection connection =
        database == TestDatabase.SQLITE
            ? DriverManager.getConnection("jdbc:" + database.url())
            : database.connect()) {
      assertThat(isOf(connection, counter)).as(counter).isTrue();
    }
  }

  static boolean isOf(Connection connection, String counter) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(UNBALANCED)) {
      select.setString(1, counter);
      try (ResultSet rows = select.executeQuery()) {
        return !rows.next();
      }
    }
  }
}
