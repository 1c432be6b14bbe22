package io.pawl.sql.lock;

import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.Session;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;

/**
 * The rows of locks in a transaction: locked, written, or changed by {@link Shortcut}s.
 *
 * <p>Round trips: 2, the locking read and {@code write; COMMIT}; 1 for shortcuts. Where the driver
 * takes one statement at a time, the commit is one more. Names never seen before cost 2 more, once,
 * and grants to clients elsewhere 1 on PostgreSQL.
 */
public final class LockRows {

  /**
   * Rows under lock, and the time at which they all were.
   *
   * @param blocked whose rows somebody else has locked
   * @param counters the names that have no row since they are counters'
   */
  record Locked(Map<String, Row> rows, Set<String> blocked, Set<String> counters, long now) {}

  private final Session session;
  private final Dialect dialect;

  public LockRows(Session session, Dialect dialect) {
    this.session = session;
    this.dialect = dialect;
  }

  /**
   * Locks the rows of {@code wanted}, makes missing ones, and reads the time.
   *
   * @param suspects those of them that are not waited for
   */
  Locked lock(Collection<String> wanted, Set<String> suspects) throws SQLException {
    Map<String, Row> rows = new LinkedHashMap<>();
    long newest = select(List.copyOf(suspects), false, rows);
    Set<String> blocked = new HashSet<>(suspects);
    blocked.removeAll(rows.keySet());
    blocked.retainAll(session.among("pawl_lock", blocked));
    List<String> names =
        wanted.stream().filter(n -> !rows.containsKey(n) && !blocked.contains(n)).toList();
    newest = Math.max(newest, select(names, true, rows));
    TreeSet<String> missing = new TreeSet<>(names);
    missing.removeAll(rows.keySet());
    Set<String> counters = session.among("pawl_counter", missing);
    missing.removeAll(counters);
    if (insertMissing(missing)) {
      newest = Math.max(newest, select(List.copyOf(missing), true, rows));
    }
    return new Locked(rows, blocked, counters, dialect.now(newest));
  }

  /** The rows of {@code wanted} as they were last committed, and the time. One trip. */
  Locked read(Collection<String> wanted) throws SQLException {
    Map<String, Row> rows = new LinkedHashMap<>();
    long newest = select(List.copyOf(wanted), n -> dialect.readRows(Table.LOCK, n), rows);
    return new Locked(rows, Set.of(), Set.of(), dialect.now(newest));
  }

  private long select(List<String> names, boolean waits, Map<String, Row> rows)
      throws SQLException {
    return select(names, n -> dialect.lockRows(Table.LOCK, n, session.starts(), waits), rows);
  }

  private long select(List<String> names, IntFunction<String> query, Map<String, Row> rows)
      throws SQLException {
    long newest = 0;
    for (List<String> chunk : session.chunks(names)) {
      PreparedStatement statement = session.prepare(query.apply(chunk.size()));
      for (int i = 0; i < chunk.size(); i++) {
        statement.setString(i + 1, chunk.get(i));
      }
      try (ResultSet result = Session.query(statement)) {
        while (result.next()) {
          Row row = Row.read(result);
          rows.put(row.name(), row);
          newest = Math.max(newest, result.getLong(Row.COLUMN_COUNT + 1));
        }
      }
    }
    return newest;
  }

  private boolean insertMissing(Collection<String> names) throws SQLException {
    for (List<Row> chunk : session.chunks(names.stream().map(Row::unknown).toList())) {
      String insert = dialect.insertMissing(Table.LOCK, chunk.size());
      if (insert == null) {
        return false;
      }
      session.runHarmless(write(insert, chunk));
    }
    return true;
  }

  /**
   * Changes the rows that are as they must be, commits, and says whether all were. One trip. Where
   * one was not, or where it fails, all may be repeated as a transaction: what was done is found
   * done, by the claims' ids; and once that was answered, the row can never again be as it must be,
   * or would not be changed by it.
   */
  public boolean tryShortcuts(Collection<Shortcut> shortcuts) throws SQLException {
    GuardedUpdate guarded = GuardedUpdate.of(shortcuts);
    PreparedStatement update = session.prepare(dialect.alone(guarded.sql(dialect)));
    guarded.bind(update, shortcuts);
    return session.runAlone(update) == shortcuts.size();
  }

  /** Writes {@code rows} and commits. */
  void commit(List<Row> rows) throws SQLException {
    List<Session.Write> writes =
        session.chunks(rows).stream()
            .map(chunk -> write(dialect.upsert(Table.LOCK, chunk.size()), chunk))
            .toList();
    int last = Math.max(0, writes.size() - 1);
    for (Session.Write write : writes.subList(0, last)) {
      session.write(write);
    }
    session.commitAll(writes.subList(last, writes.size()));
  }

  private static Session.Write write(String sql, List<Row> rows) {
    return new Session.Write(
        sql,
        (statement, first) -> {
          int parameter = first;
          for (Row row : rows) {
            parameter = row.bind(statement, parameter);
          }
          return parameter;
        });
  }
}
