package io.pawl.sql;

import io.pawl.error.StaleTokenException;
import io.pawl.spi.LockName;
import io.pawl.sql.dialect.Schema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Refuses the writes of a holder that has been superseded, inside the application's own
 * transaction. No clock is involved: a write with a token smaller than one already seen does not
 * happen, however long a process was paused.
 *
 * <p>For a row that has a column for the token, in one statement and in autocommit too:
 *
 * <pre>{@code
 * try (Lease lease = lock.acquire()) {
 *   SqlFence.update(connection, lease.token(),
 *       "UPDATE account SET balance = ?, fence = :token WHERE id = ? AND fence <= :token",
 *       newBalance, accountId);
 * }
 * }</pre>
 *
 * <p>For a whole transaction, whatever it writes and with any framework:
 *
 * <pre>{@code
 * try (Lease lease = lock.acquire()) {
 *   connection.setAutoCommit(false);
 *   SqlFence.check(connection, "orders:42", lease.token());
 *   …                                     // any statements
 *   connection.commit();
 * }
 * }</pre>
 *
 * <p>{@link #check} keeps the largest token of each resource in table {@code pawl_fence} of the
 * application's database, which may be another one than that of the locks. It locks that row until
 * the transaction ends. So an accepted transaction and one of a later holder happen one after the
 * other, and the earlier holder's is refused if it comes second.
 *
 * <p>A transaction reads what earlier holders' accepted ones have written if it calls {@link
 * #check} before it reads anything. On PostgreSQL that holds for READ COMMITTED alone. A
 * transaction with a snapshot (REPEATABLE READ, SERIALIZABLE) takes it before the check has waited;
 * so there a token that is new is refused, and one that an earlier transaction has checked and
 * committed goes on.
 */
public final class SqlFence {

  /** Beyond it drivers count in numbers that are too small. */
  private static final Duration LONGEST = Duration.ofDays(1);

  private static final Pattern GUARD = Pattern.compile("<=\\s*:token\\b");
  private static final Pattern ASSIGNMENT = Pattern.compile("(?<![<>!])=\\s*:token\\b");
  private static final Pattern TOKEN = Pattern.compile(":token\\b");

  private SqlFence() {}

  /**
   * Runs an UPDATE that is guarded by the token and writes it. {@code :token} stands for the token,
   * {@code ?} for the parameters in order.
   *
   * <p>The driver has to count the rows that the WHERE found, as all do by default. With {@code
   * useAffectedRows=true} in the URL those of MySQL and MariaDB count only rows that change, so
   * that a repetition of the same write is refused as well.
   *
   * @return how many rows the statement changed, at least 1
   * @throws StaleTokenException when it changed no row: a later holder has written, or there is no
   *     such row
   * @throws IllegalArgumentException unless the statement both compares {@code <= :token} and sets
   *     {@code = :token}
   */
  public static int update(Connection connection, long token, String sql, Object... parameters)
      throws SQLException {
    if (!GUARD.matcher(sql).find() || !ASSIGNMENT.matcher(sql).find()) {
      throw new IllegalArgumentException(
          "a fenced UPDATE sets 'fence = :token' and has 'fence <= :token' in its WHERE: " + sql);
    }
    String withToken = TOKEN.matcher(sql).replaceAll(Long.toString(token));
    try (PreparedStatement update = connection.prepareStatement(withToken)) {
      for (int i = 0; i < parameters.length; i++) {
        update.setObject(i + 1, parameters[i]);
      }
      int changed = update.executeUpdate();
      if (changed == 0) {
        throw new StaleTokenException(
            "no row was written with token "
                + token
                + ": a later holder has, or there is none (or, with useAffectedRows=true, nothing in"
                + " it would change)",
            token);
      }
      return changed;
    }
  }

  /**
   * Lets this transaction go on if no larger token was seen for {@code resource}, and keeps later
   * holders waiting until it ends. 1 round trip for a token that is seen first, 2 for one that was
   * seen before, and on MySQL and MariaDB. A token that was seen before is not written again, so
   * transactions whose snapshots are older than this one, and show the token, may check it too.
   *
   * <p>Waits as long as a transaction with another token goes on, and as the database lets it:
   * InnoDB ends the wait after its {@code innodb_lock_wait_timeout}, 50 s unless set. A thread that
   * has called this in one transaction and calls it in a second one before the first has ended
   * waits for itself.
   *
   * @param resource the name of what is protected, such as the lock's name: 1 to 512 bytes of UTF-8
   *     without control characters, compared byte for byte
   * @throws StaleTokenException when a larger token was seen: roll back
   * @throws IllegalArgumentException for an invalid resource
   * @throws IllegalStateException for a connection in autocommit, where the check would guard
   *     nothing; and for a token that is seen first in a transaction of PostgreSQL with a snapshot,
   *     which may lack what an earlier holder has written: roll back
   */
  public static void check(Connection connection, String resource, long token) throws SQLException {
    check(connection, resource, token, Duration.ZERO);
  }

  /**
   * As {@link #check(Connection, String, long)}, and fails if that takes longer than {@code
   * patience}.
   *
   * @param patience rounded up to whole seconds, a day at most; 0 for as long as the database lets
   *     it
   * @throws IllegalArgumentException for a negative patience
   * @throws SQLException also when another transaction goes on for longer
   */
  public static void check(Connection connection, String resource, long token, Duration patience)
      throws SQLException {
    LockName.check("resource", resource, LockName.MAX_BYTES);
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "SqlFence.check guards a transaction, and this connection is in autocommit");
    }
    if (isLargest(connection, resource, token, seconds(patience))) {
      return;
    }
    throw new StaleTokenException(
        "token " + token + " for '" + resource + "' is stale: a later holder has been here", token);
  }

  private static int seconds(Duration patience) {
    if (patience.isNegative()) {
      throw new IllegalArgumentException("patience: " + patience + " is negative");
    }
    Duration bounded = patience.compareTo(LONGEST) < 0 ? patience : LONGEST;
    return (int) bounded.plusNanos(999_999_999).toSeconds();
  }

  private static boolean isLargest(Connection connection, String resource, long token, int seconds)
      throws SQLException {
    String database = schema(connection).database();
    boolean mySql = database.endsWith("mysql") || database.endsWith("mariadb");
    boolean postgres = database.endsWith("postgresql");
    String insert =
        "INSERT INTO pawl_fence (name, token) VALUES (?, ?)"
            + (mySql
                ? " ON DUPLICATE KEY UPDATE token = GREATEST(token, VALUES(token))"
                : " ON CONFLICT (name) DO UPDATE SET token = excluded.token"
                    + " WHERE pawl_fence.token < excluded.token")
            + (postgres ? " RETURNING current_setting('transaction_isolation')" : "");
    try (PreparedStatement statement = connection.prepareStatement(insert)) {
      statement.setQueryTimeout(seconds);
      statement.setString(1, resource);
      statement.setLong(2, token);
      boolean isNew =
          postgres
              ? entersWithoutSnapshot(statement, resource, token)
              : statement.executeUpdate() > 0 && !mySql; // there the count says nothing
      return isNew || largest(connection, resource, !database.endsWith("sqlite"), seconds) <= token;
    }
  }

  /** Whether {@code insert} has entered the token; that returns its transaction's isolation. */
  private static boolean entersWithoutSnapshot(
      PreparedStatement insert, String resource, long token) throws SQLException {
    try (ResultSet entered = insert.executeQuery()) {
      if (!entered.next()) {
        return false;
      }
      String isolation = entered.getString(1);
      if (isolation.startsWith("read ")) {
        return true;
      }
      throw new IllegalStateException(
          "token "
              + token
              + " for '"
              + resource
              + "' is new, and the snapshot of this "
              + isolation
              + " transaction may be older than what an earlier holder has written: run it as READ"
              + " COMMITTED, or first check the token in a READ COMMITTED transaction and commit that");
    }
  }

  /**
   * The row is locked already.
   *
   * @param lock where an old snapshot would hide what is in it
   */
  private static long largest(Connection connection, String resource, boolean lock, int seconds)
      throws SQLException {
    String sql = "SELECT token FROM pawl_fence WHERE name = ?" + (lock ? " FOR UPDATE" : "");
    try (PreparedStatement select = connection.prepareStatement(sql)) {
      select.setQueryTimeout(seconds);
      select.setString(1, resource);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** Returns what {@link #createTable} runs on the database of {@code connection}. */
  public static String ddl(Connection connection) throws SQLException {
    return schema(connection).ddl(0);
  }

  /** Creates table {@code pawl_fence} unless it exists; on MySQL this ends an open transaction. */
  public static void createTable(Connection connection) throws SQLException {
    schema(connection).makeFrom(0, connection);
  }

  private static Schema schema(Connection connection) throws SQLException {
    String product = connection.getMetaData().getDatabaseProductName().toLowerCase(Locale.ROOT);
    if (product.equals("mysql")) {
      String version = connection.getMetaData().getDatabaseProductVersion();
      return new Schema(version.contains("MariaDB") ? "fence-mariadb" : "fence-mysql", true);
    }
    if (!product.equals("mariadb") && !product.equals("postgresql") && !product.equals("sqlite")) {
      throw new SQLFeatureNotSupportedException(
          "SqlFence.check works on MySQL, MariaDB, PostgreSQL and SQLite, and this is " + product);
    }
    return new Schema("fence-" + product, true);
  }
}
