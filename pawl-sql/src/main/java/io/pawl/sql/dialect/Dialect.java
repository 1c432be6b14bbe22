package io.pawl.sql.dialect;

import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.rule.LockState.Grant;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** What differs between databases. */
public interface Dialect {

  /** What a failed transaction means for the requests in it. */
  enum Failure {
    /** Nothing was applied, somebody else was in the way: run the whole transaction again. */
    CONFLICT,
    /** As {@link #CONFLICT}, and it was a row that somebody keeps locked. */
    BLOCKED,
    /**
     * Somebody ended the statement, which may have been a commit that was carried out: run the
     * whole transaction again, in doubt.
     */
    INTERRUPTED,
    /** The connection or the server is gone; the outcome of a commit is unknown. */
    UNAVAILABLE,
    /** The account lacks a right, or its credentials are wrong. */
    DENIED,
    /** The server takes no writes: a standby, or a primary in the middle of a failover. */
    READ_ONLY,
    /** This database cannot be used as it is. */
    UNUSABLE,
    /** Anything else. */
    OTHER
  }

  /** How many rows one statement takes at most. */
  int MAX_ROWS = 600;

  /** The name of its file of tables. */
  String schema();

  /** Creates or checks the tables, and that the server can be used; on a new writer. */
  void prepare(Connection writer) throws SQLException;

  /**
   * Where a new writer leads: asked before each transaction on it, which it refuses with a {@link
   * io.pawl.error.StoreConfigurationException} once others are led elsewhere.
   */
  default Runnable place() {
    return () -> {};
  }

  /** See {@link io.pawl.spi.LockStore#servesOthers}. */
  default boolean servesOthers() {
    return false;
  }

  /** A permit to write, where the writers of this process take turns. */
  default @Nullable Semaphore turn() {
    return null;
  }

  /** Whether a {@link #place} has refused: what stood in the database is nobody's any more. */
  default boolean isLost() {
    return false;
  }

  /** Sets what every connection of ours relies on, whatever the server's own settings say. */
  default void setUp(Connection connection) throws SQLException {}

  /**
   * As {@link #setUp}, for statements that make and change tables: they may take as long as they
   * need, but not wait for others, who would all wait behind them.
   */
  default void setUpForTables(Connection connection) throws SQLException {
    setUp(connection);
  }

  /**
   * Settings for a writer of our own, beside autocommit and isolation; returns what its
   * transactions begin and end with.
   */
  default Frame setUpWriter(Connection connection) throws SQLException {
    return frame();
  }

  /** What the transactions of a writer begin and end with whose session nobody may change. */
  default Frame frame() {
    return Frame.NONE;
  }

  /**
   * Bounds how long statements of a borrowed writer wait for what somebody else has locked, a row
   * or a table, by what tells so; returns the statement that puts back what its session said, null
   * where it says so already.
   */
  default @Nullable String boundRowWaits(Connection writer) throws SQLException {
    return null;
  }

  /**
   * Whether transactions begin and end by statements on a connection in autocommit; else JDBC's
   * autocommit is off.
   */
  default boolean beginsInSql() {
    return false;
  }

  /** What begins a transaction; null where a {@link Frame} does, or JDBC. */
  default @Nullable String begin() {
    return null;
  }

  /** The isolation to set through JDBC, {@link Connection#TRANSACTION_NONE} to leave it. */
  int jdbcIsolation();

  /** How many rows one statement reads or writes at most. */
  int rowsPerStatement();

  /**
   * Locks and reads {@code n} rows of a table with one key column by their keys, in the order of
   * keys: all columns, and the database's time in milliseconds since 1970, taken when the row's
   * lock was held.
   *
   * @param waits whether for rows that somebody else has locked; else they are left out
   */
  String lockRows(Table table, int n, boolean waits);

  /** The database's time as an expression, in milliseconds since 1970. */
  String clock();

  /** About the database's time, as an expression for a column that {@link #bindTime} writes. */
  String utcNow();

  /** Makes a statement read a table by {@code index} alone, where the planner might scan it. */
  default String by(String index) {
    return "";
  }

  /**
   * Reads {@code n} locks by their names, and who waits for them, as they were last committed: the
   * columns of {@link Table#LOCK}, the time, and the columns of {@link Table#WAITER}. A lock's row
   * has position 0, that of claims only the lock's name besides; in no order. The names are
   * parameters twice.
   */
  default String readLocks(int n) {
    String in = " IN (" + Table.repeated("?", n) + ")";
    return "SELECT "
        + Table.LOCK.columns()
        + ", "
        + clock()
        + ", 0 AS position, '', ''"
        + " FROM pawl_lock WHERE name"
        + in
        + " UNION ALL SELECT lock_name, '', 0, '', 0, '', NULL, 0, "
        + Table.WAITER.columns()
        + " FROM pawl_waiter"
        + by("pawl_waiter_by_lock")
        + " WHERE lock_name"
        + in;
  }

  /**
   * The names of locks in their order, and 1 for those that somebody holds or waits for: those
   * after the first parameter, as many as the second says at most.
   */
  default String readBusyNames() {
    return "SELECT name, CASE WHEN holders <> '[]' OR EXISTS (SELECT 1 FROM pawl_waiter"
        + by("pawl_waiter_by_lock")
        + " WHERE lock_name = name) THEN 1 ELSE 0 END FROM pawl_lock"
        + " WHERE name > ? ORDER BY name LIMIT ?";
  }

  /**
   * The names of locks in their order, and 1 for those that were last written before the first
   * parameter: those after the second, as many as the third says at most.
   */
  default String readIdleNames() {
    return "SELECT name, CASE WHEN used < ? THEN 1 ELSE 0 END FROM pawl_lock"
        + " WHERE name > ? ORDER BY name LIMIT ?";
  }

  /**
   * In a transaction, reads who waits for {@code n} locks, the next of each first: the columns of
   * {@link Table#WAITER}.
   */
  default String readWaiters(int n) {
    return "SELECT "
        + Table.WAITER.columns()
        + " FROM pawl_waiter"
        + by("pawl_waiter_by_lock")
        + " WHERE lock_name IN ("
        + Table.repeated("?", n)
        + ") ORDER BY lock_name, position";
  }

  /**
   * Locks the rows of those who wait for {@code n} locks, and reads their positions; leaves out
   * those that somebody else has locked.
   */
  default String lockWaiters(int n) {
    return "SELECT position FROM pawl_waiter"
        + by("pawl_waiter_by_lock")
        + " WHERE lock_name IN ("
        + Table.repeated("?", n)
        + ") FOR UPDATE SKIP LOCKED";
  }

  /**
   * Inserts {@code n} idle locks, each unless it exists or its name is a counter's; waits for
   * whoever is inserting the same, and locks no row that is there. Three parameters each, all the
   * name.
   */
  String insertLocks(int n);

  /** As {@link #insertLocks}, without what makes it pass over rows that exist. */
  default String selectNewLocks(int n) {
    String one =
        "SELECT ?, '', pawl_forgotten.last_token, '[]', 0, '[]', "
            + utcNow()
            + " FROM pawl_forgotten WHERE pawl_forgotten.one = 1"
            + " AND NOT EXISTS (SELECT 1 FROM pawl_counter WHERE name = ?)"
            + " AND NOT EXISTS (SELECT 1 FROM pawl_lock AS known WHERE known.name = ?)";
    return "INSERT INTO pawl_lock ("
        + Table.LOCK.columns()
        + ") "
        + String.join(" UNION ALL ", Collections.nCopies(n, one));
  }

  /**
   * Inserts {@code n} rows into {@link Table#NEW_WAITER}: for each the parameters of its columns,
   * its lock's name again, and what must be withdrawn there. None for a lock that nobody holds or
   * waits for, whose row says otherwise until whoever comes first has written it, nor for one whose
   * row somebody else has locked.
   */
  default String joinWaiters(int n) {
    String one =
        "SELECT "
            + Table.repeated("?", Table.NEW_WAITER.columnCount())
            + " FROM (SELECT 1 FROM pawl_lock"
            + by("PRIMARY")
            + " WHERE name = ? AND kind = 'lock' AND holders <> '[]' AND queued = 1"
            + " AND withdrawn = ? "
            + shareUnlessLocked()
            + ") AS joined";
    return "INSERT INTO pawl_waiter ("
        + Table.NEW_WAITER.columns()
        + ") "
        + String.join(" UNION ALL ", Collections.nCopies(n, one));
  }

  /** Locks the rows of a SELECT beside others who do so, and leaves out those who others lock. */
  default String shareUnlessLocked() {
    return "FOR SHARE SKIP LOCKED";
  }

  /** Begins a DELETE from a table of rows by its primary key. */
  default String deleteByKey(String table) {
    return "DELETE FROM " + table;
  }

  /** Deletes {@code n} rows of those that wait, by their positions. */
  default String deleteWaiters(int n) {
    return "DELETE FROM pawl_waiter WHERE position IN (" + Table.repeated("?", n) + ")";
  }

  /** Sets a parameter that is a time, in milliseconds since 1970, to be read in UTC. */
  default void bindTime(PreparedStatement statement, int parameter, long millis)
      throws SQLException {
    Instant time = Instant.ofEpochMilli(millis);
    statement.setObject(parameter, LocalDateTime.ofInstant(time, ZoneOffset.UTC));
  }

  /** As {@link #bindTime}; NULL where there is no time, which is 0. */
  default void bindTimeOrNull(PreparedStatement statement, int parameter, long millis)
      throws SQLException {
    if (millis == 0) {
      statement.setNull(parameter, Types.TIMESTAMP);
    } else {
      bindTime(statement, parameter, millis);
    }
  }

  /** A column that {@link #bindTime} wrote; 0 where it is NULL. */
  default long readTime(ResultSet row, int column) throws SQLException {
    LocalDateTime time = row.getObject(column, LocalDateTime.class);
    return time == null ? 0 : time.toInstant(ZoneOffset.UTC).toEpochMilli();
  }

  /**
   * Whether a transaction excludes all others from its begin on, so that reading locks. Such a
   * dialect {@linkplain #now(long) tells the time} itself.
   */
  default boolean excludesOthers() {
    return false;
  }

  /**
   * Lets the transaction under way fail as {@link Failure#BLOCKED} without a long wait if another
   * one has inserted a row of {@code names}: here, or when it inserts it, before {@link
   * #waitAsUsual}.
   */
  default void failSoonIfMade(Connection writer, Table table, Collection<String> names)
      throws SQLException {}

  /** Ends what {@link #failSoonIfMade} began. */
  default void waitAsUsual(Connection writer) throws SQLException {}

  /**
   * Inserts {@code n} rows unless they exist, waiting for whoever is inserting the same; null where
   * the writer excludes all others.
   */
  @Nullable String insertMissing(Table table, int n);

  /** Replaces {@code n} rows, inserting where {@link #insertMissing} did not. */
  String upsert(Table table, int n);

  /**
   * Whether an update by a guess, without reading, is worth it: where a trip costs nothing it is
   * not. The following three are its parts.
   */
  default boolean hasShortcuts() {
    return true;
  }

  /** Begins an UPDATE of rows by their names. */
  default String updateByName() {
    return "UPDATE pawl_lock";
  }

  /**
   * What stands before an UPDATE of {@code n} rows by their names, with as many parameters: it
   * locks them in order where the UPDATE might not; empty where it does.
   */
  default String locksBeforeUpdate(int n) {
    return "";
  }

  /**
   * A text with two times in it, as an expression with four parameters: text, milliseconds from
   * now, text, milliseconds from now; and then {@code last}, null if that is. The time may be that
   * at which the statement began.
   */
  default String textWithTimes(String last) {
    throw new UnsupportedOperationException();
  }

  /** The time of the transaction, given what {@link #lockRows} read. */
  default long now(long newestOfRows) {
    return newestOfRows;
  }

  /** Reads time alone, for viewing: one row, milliseconds since 1970. */
  long now(Connection reader) throws SQLException;

  /** Whether {@code "…; COMMIT"} is one trip. */
  boolean takesSeveralStatements();

  /** Tells other clients of their claims' grants, once the transaction commits. */
  default void announce(Connection writer, Collection<Grant> grants) throws SQLException {}

  /** Whether {@link #announce} tells, to whom LISTENs on a connection of its own; else all poll. */
  default boolean notifies() {
    return false;
  }

  /**
   * A number that changes when any other connection has committed, where that is cheap to ask; else
   * it always changes.
   */
  default long changes(Connection reader) throws SQLException {
    return System.nanoTime();
  }

  /**
   * Whether others see what a transaction has committed before a crash of the server would spare
   * it. Then a grant or a line of a ledger is told only after a later transaction of ours has
   * changed something and committed.
   */
  default boolean showsBeforeItKeeps() {
    return false;
  }

  /**
   * Whether {@link #changes} is no trip, so that even those may look often who stand far behind.
   */
  default boolean looksCheaply() {
    return false;
  }

  /** Whether a new connection costs no more than a look does. */
  default boolean connectsCheaply() {
    return false;
  }

  Failure classify(SQLException failure);

  /** Examines the server for {@link io.pawl.spi.Diagnosable}. */
  List<Finding> diagnose(Connection reader) throws SQLException;
}
