package io.pawl.bench.soak;

import io.pawl.bench.BenchException;
import io.pawl.bench.rival.SqlFlavour;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.function.Consumer;

/** The tables of a database. */
final class SqlSoakLedger implements SoakLedger {

  private static final int ROWS_AT_ONCE = 10_000;

  private final String url;

  SqlSoakLedger(String url) {
    this.url = url;
  }

  @Override
  public Row row(String counter) {
    return ask(
        "SELECT value, floor FROM pawl_counter WHERE name = ?",
        counter,
        rows -> {
          if (!rows.next()) {
            throw new BenchException("there is no counter " + counter);
          }
          return new Row(rows.getLong(1), rows.getLong(2));
        });
  }

  @Override
  public void lines(String counter, Consumer<Line> to) {
    ask(
        "SELECT id, status, delta FROM pawl_ledger WHERE counter = ?",
        counter,
        rows -> {
          while (rows.next()) {
            to.accept(new Line(rows.getString(1), rows.getString(2), rows.getLong(3)));
          }
          return counter;
        });
  }

  private interface Reading<T> {
    T of(ResultSet rows) throws SQLException;
  }

  private <T> T ask(String sql, String counter, Reading<T> reading) {
    try (Connection connection = DriverManager.getConnection(url)) {
      connection.setAutoCommit(false); // without this PostgreSQL answers all rows at once
      try (PreparedStatement select = connection.prepareStatement(sql)) {
        boolean mySql = SqlFlavour.of(url) == SqlFlavour.MYSQL;
        select.setFetchSize(mySql ? Integer.MIN_VALUE : ROWS_AT_ONCE);
        select.setString(1, counter);
        try (ResultSet rows = select.executeQuery()) {
          return reading.of(rows);
        }
      }
    } catch (SQLException e) {
      throw new BenchException("'" + sql + "' failed", e);
    }
  }
}
