package io.pawl.sql.dialect;

import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What {@code doctor} has found so far on one connection. */
final class Findings {

  interface Look {
    void at() throws SQLException;
  }

  private final Connection reader;
  private final Dialect dialect;
  private final List<Finding> all = new ArrayList<>();

  Findings(Connection reader, Dialect dialect) {
    this.reader = reader;
    this.dialect = dialect;
  }

  List<Finding> all() {
    return List.copyOf(all);
  }

  void ok(String what) {
    all.add(new Finding(Level.OK, what, ""));
  }

  void warning(String what, String fix) {
    all.add(new Finding(Level.WARNING, what, fix));
  }

  void problem(String what, String fix) {
    all.add(new Finding(Level.PROBLEM, what, fix));
  }

  void expect(String name, String found, String expected, String fix) {
    if (found.equals(expected)) {
      ok(name + ": " + found);
    } else {
      problem(name + ": " + found + ", not " + expected, fix);
    }
  }

  /**
   * Looks at what the account may not be allowed to see, or this version may not have: then the
   * finding says so. Returns whether it was seen.
   *
   * @param grant what lets the account see it
   */
  boolean look(String at, String grant, Look look) throws SQLException {
    try {
      look.at();
      return true;
    } catch (SQLException e) {
      switch (dialect.classify(e)) {
        case DENIED -> unseen(at, grant);
        case UNAVAILABLE -> throw e;
        default -> ok(at + ": cannot be read here: " + e.getMessage());
      }
      return false;
    }
  }

  /**
   * A table that is missing or lacks one of {@code columns}, or cannot be read by whoever may, is a
   * problem. Returns whether it was read.
   */
  boolean need(String table, String columns, String fix) throws SQLException {
    try {
      rows("SELECT " + columns + " FROM " + table + " WHERE 1 = 0");
      return true;
    } catch (SQLException e) {
      switch (dialect.classify(e)) {
        case UNAVAILABLE, CONFLICT, BLOCKED, INTERRUPTED -> throw e;
        case DENIED -> {} // whoever looks into it says so
        default -> problem("table " + table + " cannot be read: " + e.getMessage(), fix);
      }
      return false;
    }
  }

  void unseen(String at, String grant) {
    all.add(new Finding(Level.OK, at + ": not looked at, since this account may not", grant));
  }

  /** The columns of the first row, NULL as an empty text; empty if there is none. */
  List<String> row(String query, Object... parameters) throws SQLException {
    List<List<String>> rows = rows(query, parameters);
    return rows.isEmpty() ? List.of() : rows.get(0);
  }

  List<List<String>> rows(String query, Object... parameters) throws SQLException {
    try (PreparedStatement statement = reader.prepareStatement(query)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      try (ResultSet found = statement.executeQuery()) {
        int count = found.getMetaData().getColumnCount();
        List<List<String>> rows = new ArrayList<>();
        while (found.next()) {
          List<String> row = new ArrayList<>();
          for (int i = 1; i <= count; i++) {
            row.add(text(found.getString(i)));
          }
          rows.add(row);
        }
        return rows;
      }
    }
  }

  /** As {@link #rows}, but of all columns only {@code names}. */
  List<List<String>> columns(String query, String... names) throws SQLException {
    try (PreparedStatement statement = reader.prepareStatement(query);
        ResultSet found = statement.executeQuery()) {
      List<List<String>> rows = new ArrayList<>();
      while (found.next()) {
        List<String> row = new ArrayList<>();
        for (String name : names) {
          row.add(text(found.getString(name)));
        }
        rows.add(row);
      }
      return rows;
    }
  }

  private static String text(@Nullable String value) {
    return value == null ? "" : value;
  }
}
