package io.pawl.sql.counter;

import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import io.pawl.sql.dialect.Dialect;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.Locale;

/**
 * A line of a counter's ledger as it is stored.
 *
 * @param number counted up by the counter, from 1
 */
public record LedgerLine(String counter, long number, LedgerEntry entry) {

  /** Whether it has a row among the open reservations. */
  boolean isOpenReservation() {
    return entry.status() == LedgerEntry.Status.RESERVED;
  }

  /** The columns of {@link CounterTables#LEDGER}. */
  static LedgerLine read(ResultSet row, Dialect dialect) throws SQLException {
    String counter = row.getString(1);
    String id = row.getString(2);
    try {
      LedgerEntry entry =
          new LedgerEntry(
              id,
              Operation.parse(row.getString(4)),
              LedgerEntry.Status.valueOf(row.getString(5).toUpperCase(Locale.ROOT)),
              row.getLong(6),
              row.getLong(7),
              dialect.readTime(row, 8),
              dialect.readTime(row, 9),
              dialect.readTime(row, 10));
      return new LedgerLine(counter, row.getLong(3), entry);
    } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
      throw new UnreadableLineException(
          "counter '"
              + counter
              + "': line '"
              + id
              + "' of table pawl_ledger cannot be read ("
              + e.getMessage()
              + "); was it edited?",
          e);
    }
  }

  /** Sets a parameter per column from {@code first} on, and returns the next free one. */
  int bind(PreparedStatement statement, int first, Dialect dialect) throws SQLException {
    int parameter = first;
    statement.setString(parameter++, counter);
    statement.setString(parameter++, entry.id());
    statement.setLong(parameter++, number);
    statement.setString(parameter++, entry.operation().toString());
    statement.setString(parameter++, entry.status().toString());
    statement.setLong(parameter++, entry.change());
    statement.setLong(parameter++, entry.value());
    dialect.bindTime(statement, parameter++, entry.at());
    dialect.bindTimeOrNull(statement, parameter++, entry.issuedMillis());
    dialect.bindTimeOrNull(statement, parameter++, entry.until());
    return parameter;
  }
}
