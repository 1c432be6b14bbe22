package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.IsoMillis;
import io.pawl.sql.dialect.Table;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The row of a lock.
 *
 * @param holders see {@link ClaimsText}, as {@code withdrawn}
 * @param queued whether claims wait in rows of their own
 */
public record Row(
    String name, String kind, long lastToken, String holders, boolean queued, String withdrawn) {

  private static final String ANY_KIND = "";
  public static final int COLUMN_COUNT = 7;

  /** What a poll needs to see of {@code n} rows. */
  static String selectHolders(int n) {
    return "SELECT name, kind, last_token, holders, 0, '[]' FROM pawl_lock WHERE name IN ("
        + Table.repeated("?", n)
        + ")";
  }

  public static Row read(ResultSet columns) throws SQLException {
    return new Row(
        columns.getString(1),
        columns.getString(2),
        columns.getLong(3),
        columns.getString(4),
        columns.getLong(5) != 0,
        columns.getString(6));
  }

  /**
   * Sets a parameter per column from {@code first} on, and returns the next free one.
   *
   * @param now when it is written
   */
  int bind(PreparedStatement upsert, int first, long now, Dialect dialect) throws SQLException {
    upsert.setString(first, name);
    upsert.setString(first + 1, kind);
    upsert.setLong(first + 2, lastToken);
    upsert.setString(first + 3, holders);
    upsert.setInt(first + 4, queued ? 1 : 0);
    upsert.setString(first + 5, withdrawn);
    dialect.bindTime(upsert, first + 6, now);
    return first + COLUMN_COUNT;
  }

  /** The row of a lock that the table does not know yet. */
  public static Row unknown(String name) {
    return unknown(name, 0);
  }

  /** As {@link #unknown(String)}, where tokens up to {@code forgotten} may have been granted. */
  static Row unknown(String name, long forgotten) {
    return new Row(name, ANY_KIND, forgotten, ClaimsText.NONE, false, ClaimsText.NONE);
  }

  /** The holders' text after the times of the first. */
  String holdersAfterTimes(long since, long until) {
    return holders.substring(
        ClaimsText.BEFORE_SINCE.length()
            + IsoMillis.format(since).length()
            + ClaimsText.BEFORE_UNTIL.length()
            + IsoMillis.format(until).length());
  }

  public static Row of(LockState state) {
    Kind kind = state.kind();
    return new Row(
        state.lock(),
        kind == null ? ANY_KIND : kind.toString(),
        state.lastToken(),
        ClaimsText.write(state.holders()),
        !state.waiters().isEmpty(),
        ClaimsText.writeTimes(state.withdrawn()));
  }

  /** Whether nobody was granted it since it was made. */
  boolean isUnused() {
    return kind.equals(ANY_KIND) || lastToken == 0;
  }

  /** The same, where tokens up to {@code forgotten} may have been granted. */
  Row above(long forgotten) {
    return new Row(name, kind, Math.max(lastToken, forgotten), holders, queued, withdrawn);
  }

  /** Whether nobody holds it. */
  boolean isFree() {
    return holders.equals(ClaimsText.NONE);
  }

  /** Its kind; null while it may become of any. */
  @Nullable Kind readKind() {
    return kind.equals(ANY_KIND) ? null : Kind.parse(kind);
  }

  /**
   * @param now see {@link StoredLock#state}
   */
  List<Entry> readHolders(long now) {
    List<Entry> entries = new ArrayList<>();
    for (Entry entry : ClaimsText.read(holders)) {
      if (entry.token() < 1
          || entry.lastToken() < entry.token()
          || entry.lastToken() > Tokens.MAX) {
        throw new IllegalArgumentException(
            "tokens " + entry.token() + " to " + entry.lastToken() + " are none");
      }
      entries.add(entry.endingBy(now + entry.longestMillis()));
    }
    return entries;
  }

  Map<ClaimId, Long> readWithdrawn() {
    return ClaimsText.readTimes(withdrawn);
  }
}
