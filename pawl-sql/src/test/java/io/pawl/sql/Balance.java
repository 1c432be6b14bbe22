package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What a counter's row says, and whether its ledger agrees, asked of the database without Pawl. */
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
    try (Connection connection = connect(database)) {
      assertOf(connection, counter);
    }
  }

  static void assertOf(Connection connection, String counter) throws SQLException {
    assertThat(isOf(connection, counter)).as(counter).isTrue();
  }

  /** As the row of {@code counter} says. */
  static long valueOf(TestDatabase database, String counter) throws SQLException {
    try (Connection connection = connect(database);
        PreparedStatement select =
            connection.prepareStatement("SELECT value FROM pawl_counter WHERE name = ?")) {
      select.setString(1, counter);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private static Connection connect(TestDatabase database) throws SQLException {
    return database == TestDatabase.SQLITE
        ? DriverManager.getConnection("jdbc:" + database.url())
        : database.connect();
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
