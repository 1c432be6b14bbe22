package io.pawl.sql.lock;

import io.pawl.error.StoreException;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.BlockedRows;
import io.pawl.sql.transaction.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The rows of locks in a transaction: locked, written, or changed by {@link Shortcut}s.
 *
 * <p>Round trips: 2, the locking read and {@code write; COMMIT}; 1 for shortcuts. Where the driver
 * takes one statement at a time, each statement is one. Grants to clients elsewhere cost 1 more on
 * PostgreSQL.
 */
public final class LockRows {

  /**
   * Locks whose rows are locked, and the time at which they all were.
   *
   * @param blocked whose rows somebody else has locked
   * @param counters the names that have no row since they are counters'
   * @param tokenless the names that get no row, since the tokens of forgotten locks are lost
   */
  record Locked(
      Map<String, StoredLock> locks,
      Set<String> blocked,
      Set<String> counters,
      Set<String> tokenless,
      long now) {

    Locked(Map<String, StoredLock> locks, long now) {
      this(locks, Set.of(), Set.of(), Set.of(), now);
    }
  }

  private static final int MOST_JOINS = 32;
  private static final int MOST_INSERTS = 32;

  /** SQL's serialization failure: all is repeated. */
  private static final String CONFLICT = "40001";

  private static final Session.Write FORGOTTEN =
      ofNames("SELECT last_token FROM pawl_forgotten WHERE one = 1", List.of());

  private final Session session;
  private final Dialect dialect;
  private boolean changedSome;

  public LockRows(Session session, Dialect dialect) {
    this.session = session;
    this.dialect = dialect;
  }

  /**
   * Locks the rows of {@code wanted}, makes missing ones, and reads who waits and the time. Who
   * waits is read after the rows were locked, and so changes no more but by those who join.
   *
   * @param suspects those of them that are not waited for; they come last, since whoever holds one
   *     must wait for nobody: others take all rows in order
   * @param unseen those that may have no row; where another has none, that costs 2 trips more
   * @param blockedRows what is known of the suspects
   */
  Locked lock(
      Collection<String> wanted,
      Set<String> suspects,
      Set<String> unseen,
      BlockedRows<?> blockedRows)
      throws SQLException {
    if (dialect.excludesOthers()) {
      Locked read = readAlone(wanted);
      Set<String> missing = new TreeSet<>(wanted);
      missing.removeAll(read.locks.keySet());
      Set<String> counters = session.among("pawl_counter", missing);
      missing.removeAll(counters);
      OptionalLong forgotten = missing.isEmpty() ? OptionalLong.empty() : forgotten();
      if (forgotten.isPresent()) {
        long above = forgotten.getAsLong();
        missing.forEach(name -> read.locks.put(name, StoredLock.alone(Row.unknown(name, above))));
        missing.clear();
      }
      return new Locked(read.locks, Set.of(), counters, missing, read.now);
    }
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    List<String> waitedFor = wanted.stream().filter(name -> !suspects.contains(name)).toList();
    long newest = select(waitedFor, unseen, true, locks);
    Set<String> missing = new TreeSet<>(waitedFor);
    missing.removeAll(locks.keySet());
    Set<String> counters = session.among("pawl_counter", missing);
    missing.removeAll(counters);
    newest = Math.max(newest, select(List.copyOf(missing), missing, true, locks));
    Set<String> blocked = new TreeSet<>();
    if (!suspects.isEmpty()) {
      newest = Math.max(newest, selectSuspects(suspects, blockedRows, locks, blocked));
      missing.addAll(suspects);
      missing.removeAll(locks.keySet());
      missing.removeAll(blocked);
      counters.addAll(session.among("pawl_counter", missing));
      missing.removeAll(counters);
    }
    missing.removeAll(locks.keySet());
    if (!missing.isEmpty() && forgotten().isPresent()) { // else nobody can make their rows
      throw new SQLException(
          "locks " + missing + " were deleted, or became counters, at this moment", CONFLICT);
    }
    return new Locked(locks, blocked, counters, missing, dialect.now(newest));
  }

  /**
   * Adds those that are there but locked by others, or that others may be making, to blocked; and
   * those in whose queue others have locked a row, which would be waited for when it is written.
   */
  private long selectSuspects(
      Set<String> suspects,
      BlockedRows<?> blockedRows,
      Map<String, StoredLock> locks,
      Set<String> blocked)
      throws SQLException {
    long newest = select(List.copyOf(suspects), Set.of(), false, locks);
    Set<String> absent = new TreeSet<>(suspects);
    absent.removeAll(locks.keySet());
    blocked.addAll(session.among("pawl_lock", absent));
    blockedRows.areLocked(blocked);
    absent.removeAll(blocked);
    blocked.addAll(blockedRows.notToBeMade(session, absent, this::make));
    absent.removeAll(blocked);
    newest = Math.max(newest, select(List.copyOf(absent), Set.of(), false, locks));
    absent.removeAll(locks.keySet());
    blocked.addAll(session.among("pawl_lock", absent)); // whose rows others made meanwhile
    addWhoseQueueIsLocked(suspects, locks, blocked);
    return newest;
  }

  private void addWhoseQueueIsLocked(
      Set<String> suspects, Map<String, StoredLock> locks, Set<String> blocked)
      throws SQLException {
    List<StoredLock> queued =
        suspects.stream()
            .map(locks::get)
            .filter(lock -> lock != null && !lock.waiters().isEmpty())
            .toList();
    Set<Long> ours = new HashSet<>();
    for (List<StoredLock> chunk : session.chunks(queued)) {
      PreparedStatement select = session.prepare(dialect.lockWaiters(chunk.size()));
      bind(chunk.stream().map(lock -> lock.row().name()).toList(), select, 1);
      try (ResultSet positions = select.executeQuery()) {
        while (positions.next()) {
          ours.add(positions.getLong(1));
        }
      }
    }
    for (StoredLock lock : queued) {
      if (!lock.waiters().stream().map(WaiterRow::position).allMatch(ours::contains)) {
        blocked.add(lock.row().name());
      }
    }
  }

  /** Those of {@code names} whose rows nobody has locked; waits for none and makes none. */
  Locked lockThoseFree(List<String> names) throws SQLException {
    if (dialect.excludesOthers()) {
      return readAlone(names);
    }
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    long newest = select(names, Set.of(), false, locks);
    return new Locked(locks, dialect.now(newest));
  }

  /** The largest token of a lock that is not known any more; empty where its row was lost. */
  private OptionalLong forgotten() throws SQLException {
    try (ResultSet row = session.prepare(FORGOTTEN.sql()).executeQuery()) {
      return forgotten(row);
    }
  }

  private static OptionalLong forgotten(ResultSet row) throws SQLException {
    return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
  }

  static StoreException tokensAreLost(Database database) {
    return new StoreException(
        database.describe()
            + ": table pawl_forgotten has lost its row, without which tokens would fall: insert (1,"
            + " 0, 0), then run 'pawl tokens raise'");
  }

  /** See {@link Dialect#excludesOthers}. */
  private Locked readAlone(Collection<String> wanted) throws SQLException {
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    for (List<String> chunk : session.chunks(List.copyOf(wanted))) {
      boolean waiters = false;
      PreparedStatement rows = session.prepare(dialect.lockRows(Table.LOCK, chunk.size(), true));
      bind(chunk, rows, 1);
      try (ResultSet result = rows.executeQuery()) {
        while (result.next()) {
          StoredLock lock = StoredLock.alone(Row.read(result));
          locks.put(lock.row().name(), lock);
          waiters |= lock.row().queued();
        }
      }
      if (waiters) {
        PreparedStatement queue = session.prepare(dialect.readWaiters(chunk.size()));
        bind(chunk, queue, 1);
        try (ResultSet result = queue.executeQuery()) {
          addWaiters(result, locks);
        }
      }
    }
    return new Locked(locks, dialect.now(0));
  }

  /**
   * {@code wanted} as they were last committed, and the time. One trip.
   *
   * <p>A lock may have a queue and no row: it was purged as somebody joined. It is read as one that
   * is free.
   */
  Locked read(Collection<String> wanted) throws SQLException {
    Map<String, StoredLock> locks = new LinkedHashMap<>();
    List<WaiterRow> waiters = new ArrayList<>();
    long newest = 0;
    for (List<String> chunk : session.chunks(List.copyOf(wanted))) {
      PreparedStatement statement = session.prepare(dialect.readLocks(chunk.size()));
      bindTwice(chunk, statement);
      try (ResultSet result = statement.executeQuery()) {
        newest = Math.max(newest, read(result, locks, waiters));
      }
    }
    for (WaiterRow waiter : waiters) {
      String name = waiter.lock();
      locks.computeIfAbsent(name, unknown -> StoredLock.alone(Row.unknown(unknown)));
      add(waiter, locks);
    }
    return new Locked(locks, dialect.now(newest));
  }

  /** Adds what {@link Dialect#readLocks} answered to {@code locks}; returns the latest time. */
  static long read(ResultSet result, Map<String, StoredLock> locks) throws SQLException {
    List<WaiterRow> waiters = new ArrayList<>();
    long newest = read(result, locks, waiters);
    waiters.forEach(waiter -> add(waiter, locks));
    return newest;
  }

  private static long read(ResultSet result, Map<String, StoredLock> locks, List<WaiterRow> waiters)
      throws SQLException {
    long newest = 0;
    while (result.next()) {
      if (result.getLong(Row.COLUMN_COUNT + 2) > 0) {
        waiters.add(WaiterRow.read(result, Row.COLUMN_COUNT + 2));
      } else {
        StoredLock lock = StoredLock.alone(Row.read(result));
        locks.put(lock.row().name(), lock);
        newest = Math.max(newest, result.getLong(Row.COLUMN_COUNT + 1));
      }
    }
    waiters.sort(Comparator.comparingLong(WaiterRow::position));
    return newest;
  }

  private static void add(WaiterRow waiter, Map<String, StoredLock> locks) {
    StoredLock lock = locks.get(waiter.lock());
    if (lock != null) { // else its row is locked by somebody else, or was deleted by hand
      lock.waiters().add(waiter);
    }
  }

  /**
   * Adds to {@code locks}. A row that nobody has used may hold fewer tokens than were granted: who
   * made it saw what was forgotten as its statement began, and the lock may have been made, used
   * and forgotten before the row was there. Now that it is locked, what is forgotten is read again.
   */
  private long select(
      List<String> names, Set<String> unseen, boolean waits, Map<String, StoredLock> locks)
      throws SQLException {
    long newest = 0;
    for (List<String> chunk : session.chunks(names)) {
      List<Session.Write> statements = new ArrayList<>();
      List<String> create = chunk.stream().filter(unseen::contains).toList();
      for (int from = 0; from < create.size(); from += MOST_INSERTS) {
        List<String> some = create.subList(from, Math.min(create.size(), from + MOST_INSERTS));
        statements.add(ofNames(session.opening() + dialect.insertLocks(some.size()), thrice(some)));
      }
      String lock = dialect.lockRows(Table.LOCK, chunk.size(), waits);
      statements.add(ofNames(session.opening() + lock, chunk));
      statements.add(ofNames(dialect.readWaiters(chunk.size()), chunk));
      if (!create.isEmpty()) {
        statements.add(FORGOTTEN);
      }
      List<Row> unused = new ArrayList<>();
      OptionalLong forgotten = OptionalLong.empty();
      try (Session.Answers answers = session.ask(statements)) {
        ResultSet rows = answers.nextRows();
        while (rows.next()) {
          Row row = Row.read(rows);
          locks.put(row.name(), StoredLock.alone(row));
          newest = Math.max(newest, rows.getLong(Row.COLUMN_COUNT + 1));
          if (row.isUnused()) {
            unused.add(row);
          }
        }
        addWaiters(answers.nextRows(), locks);
        if (!unused.isEmpty() && !create.isEmpty()) {
          forgotten = forgotten(answers.nextRows());
        }
      }
      if (!unused.isEmpty() && create.isEmpty()) {
        forgotten = forgotten();
      }
      raise(unused, forgotten, locks);
    }
    return newest;
  }

  private static void raise(
      List<Row> unused, OptionalLong forgotten, Map<String, StoredLock> locks) {
    for (Row row : unused) {
      StoredLock known = locks.remove(row.name());
      if (known != null && forgotten.isPresent()) {
        Row raised = row.above(forgotten.getAsLong());
        locks.put(row.name(), new StoredLock(raised, known.waiters()));
      }
    }
  }

  private void make(Collection<String> names) throws SQLException {
    List<String> all = List.copyOf(names);
    for (int from = 0; from < all.size(); from += MOST_INSERTS) {
      List<String> some = all.subList(from, Math.min(all.size(), from + MOST_INSERTS));
      PreparedStatement insert = session.prepare(dialect.insertLocks(some.size()));
      bind(thrice(some), insert, 1);
      insert.executeUpdate();
    }
  }

  private static Session.Write ofNames(String sql, List<String> names) {
    return new Session.Write(sql, (statement, first) -> bind(names, statement, first));
  }

  private static List<String> thrice(List<String> names) {
    return names.stream().flatMap(name -> Stream.of(name, name, name)).toList();
  }

  private void addWaiters(ResultSet rows, Map<String, StoredLock> locks) throws SQLException {
    while (rows.next()) {
      add(WaiterRow.read(rows, 1), locks);
    }
  }

  /** The parameters of {@link Dialect#readLocks}. */
  static void bindTwice(List<String> names, PreparedStatement statement) throws SQLException {
    bind(names, statement, bind(names, statement, 1));
  }

  static int bind(List<String> names, PreparedStatement statement, int first) throws SQLException {
    int parameter = first;
    for (String name : names) {
      statement.setString(parameter++, name);
    }
    return parameter;
  }

  /**
   * Changes the rows that are as they must be, commits, and says whether all were. One trip. Where
   * one was not, or where it fails, all may be repeated as a transaction: what was done is found
   * done, by the claims' ids; and once that was answered, the row can never again be as it must be,
   * or would not be changed by it.
   */
  public boolean tryShortcuts(Collection<Shortcut> shortcuts) throws SQLException {
    GuardedUpdate guarded = GuardedUpdate.of(shortcuts);
    PreparedStatement update = session.prepare(session.alone(guarded.sql(dialect)));
    guarded.bind(update, shortcuts, dialect);
    return changesAll(session.runAlone(update, true), shortcuts.size());
  }

  /**
   * Lets {@code joining} stand in line where others do, their locks are still held and remember the
   * same withdrawals as in {@code read}, and says whether all do. One trip, which waits for no row
   * of a lock. Those who do are found there by their claims' ids if all is repeated. Where it
   * fails, it may still arrive: after whoever joined has come and gone, unless its withdrawal is
   * remembered.
   */
  boolean tryJoin(List<WaiterRow> joining, Function<String, Row> read) throws SQLException {
    if (joining.size() > MOST_JOINS) {
      return false;
    }
    PreparedStatement insert = session.prepare(session.alone(dialect.joinWaiters(joining.size())));
    int parameter = 1;
    for (WaiterRow waiter : joining) {
      parameter = waiter.bind(insert, parameter);
      insert.setString(parameter++, waiter.lock());
      insert.setString(parameter++, read.apply(waiter.lock()).withdrawn());
    }
    return changesAll(session.runAlone(insert, false), joining.size());
  }

  private boolean changesAll(int changed, int wanted) {
    changedSome |= changed > 0;
    return changed == wanted;
  }

  /** Whether shortcuts or joins were committed, be it only some of those that were tried. */
  boolean haveChangedSome() {
    return changedSome;
  }

  /** Writes {@code changes}, made at {@code now}, and commits. */
  void commit(Changes changes, long now) throws SQLException {
    List<Session.Write> writes = new ArrayList<>();
    for (List<Row> chunk : session.chunks(changes.locks())) {
      writes.add(
          write(
              dialect.upsert(Table.LOCK, chunk.size()),
              chunk,
              (row, statement, first) -> row.bind(statement, first, now, dialect)));
    }
    for (List<Long> chunk : session.chunks(changes.left())) {
      writes.add(delete(chunk));
    }
    for (List<WaiterRow> chunk : session.chunks(changes.changed())) {
      writes.add(
          write(dialect.upsert(Table.WAITER, chunk.size()), chunk, WaiterRow::bindWithPosition));
    }
    for (List<WaiterRow> chunk : session.chunks(changes.joined())) {
      writes.add(write(Table.NEW_WAITER.insert(chunk.size()), chunk, WaiterRow::bind));
    }
    session.commitAll(writes);
  }

  /** Commits what is as it was, with a change: so the log is flushed of what was read, too. */
  void keep(String lock) throws SQLException {
    session.commitAll(Session.thereAndBack(dialect.updateByName(), "last_token", lock));
  }

  Session.Write delete(List<Long> positions) {
    return new Session.Write(
        dialect.deleteWaiters(positions.size()),
        (statement, first) -> {
          int parameter = first;
          for (long position : positions) {
            statement.setLong(parameter++, position);
          }
          return parameter;
        });
  }

  /** Sets the parameters of one row from the given on, and returns the next free. */
  private interface Binding<R> {
    int bind(R row, PreparedStatement statement, int first) throws SQLException;
  }

  private static <R> Session.Write write(String sql, List<R> rows, Binding<R> binding) {
    return new Session.Write(
        sql,
        (statement, first) -> {
          int parameter = first;
          for (R row : rows) {
            parameter = binding.bind(row, statement, parameter);
          }
          return parameter;
        });
  }
}
