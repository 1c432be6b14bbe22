package io.pawl.sql.lock;

import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState.Entry;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Claims that joined a queue right behind one another, in one transaction, as they are stored: a
 * row of their own, so that joining is an insert, leaving a delete, and nobody rewrites anybody but
 * those it came with.
 *
 * @param position in the queue, by the order of inserts; 0 before it has one
 * @param claims the next first; never empty unless {@code unreadable}
 * @param unreadable what is wrong with its text, null where nothing is
 */
record WaiterRow(long position, String lock, List<Entry> claims, @Nullable String unreadable) {

  /**
   * The most claims of a row. Each that leaves alone has the row written, so that it should not be
   * long; half a page of InnoDB holds twice as many.
   */
  static final int MOST_CLAIMS = 32;

  /** Reads the columns from {@code first} on: position, lock, claims. */
  static WaiterRow read(ResultSet columns, int first) throws SQLException {
    long position = columns.getLong(first);
    String lock = columns.getString(first + 1);
    String text = columns.getString(first + 2);
    try {
      List<Entry> claims = ClaimsText.read(text);
      claims.forEach(WaiterRow::check);
      return new WaiterRow(position, lock, claims, null);
    } catch (RuntimeException e) { // it is the trouble of its own lock
      return new WaiterRow(position, lock, List.of(), String.valueOf(e.getMessage()));
    }
  }

  private static void check(Entry claim) {
    if (claim.tokens() < 1 || claim.tokens() > Tokens.MAX_PER_CLAIM) {
      throw new IllegalArgumentException(claim.tokens() + " tokens cannot be asked for");
    }
  }

  /**
   * The claims as they are stored.
   *
   * @throws RuntimeException where they cannot be read
   */
  List<Entry> readClaims() {
    if (unreadable != null) {
      throw new IllegalArgumentException(unreadable);
    }
    return claims;
  }

  static WaiterRow of(String lock, List<Entry> claims) {
    return new WaiterRow(0, lock, claims, null);
  }

  /** The same with {@code claims} only. */
  WaiterRow with(List<Entry> claims) {
    return new WaiterRow(position, lock, claims, null);
  }

  /** Sets a parameter for its lock and one for its claims, and returns the next free. */
  int bind(PreparedStatement statement, int first) throws SQLException {
    statement.setString(first, lock);
    statement.setString(first + 1, ClaimsText.write(claims));
    return first + 2;
  }

  /** The same after one for its position. */
  int bindWithPosition(PreparedStatement statement, int first) throws SQLException {
    statement.setLong(first, position);
    return bind(statement, first + 1);
  }
}
