package io.pawl.sql.counter;

import io.pawl.spi.CounterView;
import io.pawl.sql.dialect.Dialect;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;

/**
 * A counter as it is stored.
 *
 * @param lastLine the number of its ledger's latest line
 */
record CounterRow(CounterView view, long lastLine) {

  static CounterRow unknown(String name) {
    return new CounterRow(CounterView.unknown(name), 0);
  }

  /** The columns of {@link CounterTables#COUNTER}. */
  static CounterRow read(ResultSet row, Dialect dialect) throws SQLException {
    String name = row.getString(1);
    long keptFrom;
    try {
      keptFrom = dialect.readTime(row, 7);
    } catch (DateTimeException | ArithmeticException e) {
      throw new UnreadableLineException(
          "counter '"
              + name
              + "': its row in table pawl_counter cannot be read ("
              + e.getMessage()
              + "); was it edited?",
          e);
    }
    CounterView view =
        new CounterView(
            name,
            row.getLong(2),
            row.getLong(3),
            row.getLong(4),
            row.getLong(5),
            row.getLong(6),
            keptFrom);
    return new CounterRow(view, row.getLong(8));
  }

  /** Sets a parameter per column from {@code first} on, and returns the next free one. */
  int bind(PreparedStatement statement, int first, Dialect dialect) throws SQLException {
    statement.setString(first, view.name());
    return bindOthers(statement, first + 1, dialect);
  }

  /** As {@link #bind}, without the name. */
  int bindOthers(PreparedStatement statement, int first, Dialect dialect) throws SQLException {
    int parameter = first;
    statement.setLong(parameter++, view.value());
    statement.setLong(parameter++, view.floor());
    statement.setLong(parameter++, view.ceiling());
    statement.setLong(parameter++, view.reserved());
    statement.setLong(parameter++, view.forgotten());
    dialect.bindTime(statement, parameter++, view.keptFromMillis());
    statement.setLong(parameter++, lastLine);
    return parameter;
  }
}
