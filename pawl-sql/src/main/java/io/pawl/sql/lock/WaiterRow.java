package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.sql.dialect.Dialect;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.DateTimeException;
import org.jspecify.annotations.Nullable;

/**
 * A claim that waits, as it is stored: a row of its own, so that joining is an insert, leaving a
 * delete, and nobody rewrites anybody.
 *
 * @param position in the queue, by the order of inserts; 0 before it has one
 * @param since when it stood in the queue
 * @param until when it is gone unless its client asks
 * @param unreadable what is wrong with its times, null where nothing is
 */
record WaiterRow(
    long position,
    String lock,
    String claim,
    String mode,
    long since,
    long until,
    long leaseMillis,
    long minHoldMillis,
    int tokens,
    long tokenFloor,
    Holder holder,
    @Nullable String unreadable) {

  /** Reads the columns from {@code first} on: the position, then those of the table. */
  static WaiterRow read(ResultSet columns, int first, Dialect dialect) throws SQLException {
    long since = 0;
    long until = 0;
    @Nullable String unreadable = null;
    try {
      since = dialect.readTime(columns, first + 4);
      until = dialect.readTime(columns, first + 5);
    } catch (DateTimeException | ArithmeticException e) { // it is the trouble of its own lock
      unreadable = String.valueOf(e.getMessage());
    }
    return new WaiterRow(
        columns.getLong(first),
        columns.getString(first + 1),
        columns.getString(first + 2),
        columns.getString(first + 3),
        since,
        until,
        columns.getLong(first + 6),
        columns.getLong(first + 7),
        columns.getInt(first + 8),
        columns.getLong(first + 9),
        new Holder(
            columns.getString(first + 10),
            columns.getLong(first + 11),
            columns.getString(first + 12),
            columns.getString(first + 13),
            columns.getString(first + 14)),
        unreadable);
  }

  static WaiterRow of(String lock, Entry entry) {
    return new WaiterRow(
        0,
        lock,
        entry.id().toString(),
        entry.mode().toString(),
        entry.since(),
        entry.until(),
        entry.leaseMillis(),
        entry.minHoldMillis(),
        entry.tokens(),
        entry.tokenFloor(),
        entry.holder(),
        null);
  }

  /** Sets a parameter per column of the table from {@code first} on, and returns the next free. */
  int bind(PreparedStatement insert, int first, Dialect dialect) throws SQLException {
    insert.setString(first, lock);
    insert.setString(first + 1, claim);
    insert.setString(first + 2, mode);
    dialect.bindTime(insert, first + 3, since);
    dialect.bindTime(insert, first + 4, until);
    insert.setLong(first + 5, leaseMillis);
    insert.setLong(first + 6, minHoldMillis);
    insert.setInt(first + 7, tokens);
    insert.setLong(first + 8, tokenFloor);
    insert.setString(first + 9, holder.host());
    insert.setLong(first + 10, holder.pid());
    insert.setString(first + 11, holder.thread());
    insert.setString(first + 12, holder.application());
    insert.setString(first + 13, holder.note());
    return first + 14;
  }

  /**
   * @param now see {@link StoredLock#state}
   * @throws RuntimeException where it cannot be read
   */
  Entry entry(long now) {
    if (unreadable != null) {
      throw new DateTimeException(unreadable);
    }
    if (tokens < 1 || tokens > Tokens.MAX_PER_CLAIM) {
      throw new IllegalArgumentException(tokens + " tokens cannot be asked for");
    }
    Entry entry =
        new Entry(
            ClaimId.parse(claim),
            Mode.parse(mode),
            leaseMillis,
            tokens,
            tokenFloor,
            holder,
            since,
            until,
            0,
            0,
            minHoldMillis,
            false);
    return entry.endingBy(now + entry.longestMillis());
  }

  boolean isKeptAsLongAs(Entry entry) {
    return until == entry.until();
  }
}
