package io.pawl.lab.sql;

import io.pawl.lab.stage.LabException;
import io.pawl.lab.stage.Stage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.OptionalLong;

/** Short statements on MySQL, and what the server tells of itself. */
final class Db {

  private Db() {}

  static int run(Connection connection, String sql, Object... parameters) throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, parameters)) {
      return statement.executeUpdate();
    }
  }

  /** The number in the first column of the first row, if there is a row. */
  static OptionalLong number(Connection connection, String sql, Object... parameters)
      throws SQLException {
    try (PreparedStatement statement = prepared(connection, sql, parameters);
        ResultSet rows = statement.executeQuery()) {
      return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
    }
  }

  private static PreparedStatement prepared(Connection connection, String sql, Object... parameters)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < parameters.length; i++) {
      statement.setObject(i + 1, parameters[i]);
    }
    return statement;
  }

  /** Statements that the server has been sent so far, by anybody. */
  static long questions(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Questions'")) {
      if (!rows.next()) {
        throw new LabException("MySQL does not tell how many statements it was sent");
      }
      return rows.getLong(2);
    }
  }

  /** Returns once a transaction waits for a row lock. */
  static void awaitLockWait(Stage stage, Connection connection) throws Exception {
    stage.await(
        "a transaction waits for a lock",
        () ->
            number(connection, "SELECT COUNT(*) FROM performance_schema.data_lock_waits").orElse(0)
                > 0);
  }
}
