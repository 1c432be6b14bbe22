package io.pawl.sql.lock;

import io.pawl.sql.dialect.Dialect;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The names of locks, in their order, a bounded number of rows at a time and none locked. */
final class Names {

  /** So many rows are looked through at once. */
  private static final int PAGE = 1_000;

  /**
   * The names on a page that are marked.
   *
   * @param last the last name on the page, marked or not
   * @param goesOn whether there may be another page
   */
  record Marked(List<String> names, String last, boolean goesOn) {}

  private Names() {}

  /** Those after {@code last} that somebody holds or waits for. */
  static Marked busy(Connection connection, Dialect dialect, String last) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(dialect.readBusyNames())) {
      return page(select, 1, last);
    }
  }

  /** Those after {@code last} that were last written before {@code millis}. */
  static Marked old(Connection connection, Dialect dialect, long millis, String last)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(dialect.readIdleNames())) {
      dialect.bindTime(select, 1, millis);
      return page(select, 2, last);
    }
  }

  private static Marked page(PreparedStatement select, int parameter, String last)
      throws SQLException {
    select.setString(parameter, last);
    select.setInt(parameter + 1, PAGE);
    List<String> marked = new ArrayList<>();
    String latest = last;
    int rows = 0;
    try (ResultSet page = select.executeQuery()) {
      for (; page.next(); rows++) {
        latest = page.getString(1);
        if (page.getInt(2) == 1) {
          marked.add(latest);
        }
      }
    }
    return new Marked(marked, latest, rows == PAGE);
  }
}
