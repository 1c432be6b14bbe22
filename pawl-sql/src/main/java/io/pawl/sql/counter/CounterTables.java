package io.pawl.sql.counter;

import io.pawl.spi.CounterView;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of counters: what is asked of them within a transaction, as SQL. Everything is found
 * by a key.
 */
public final class CounterTables {

  static final Table COUNTER =
      new Table(
          "pawl_counter",
          List.of("name"),
          List.of("value", "floor", "ceiling", "reserved", "forgotten", "kept_from", "last_line"));

  static final Table LEDGER =
      new Table(
          "pawl_ledger",
          List.of("counter", "id"),
          List.of("line", "operation", "status", "delta", "value", "at", "issued", "until"));

  /** The open reservations, in the order in which they are due. */
  static final Table RESERVATION =
      new Table("pawl_reservation", List.of("counter", "until", "id"), List.of());

  private static final Logger log = LoggerFactory.getLogger(CounterTables.class);

  /** Those after the first parameter by name, as many as the second says at most. */
  private static final String COUNTERS_AFTER =
      "SELECT " + COUNTER.columns() + " FROM pawl_counter WHERE name > ? ORDER BY name LIMIT ?";

  private static final String LINES = "SELECT " + LEDGER.columns() + " FROM pawl_ledger WHERE ";

  private final Dialect dialect;

  CounterTables(Dialect dialect) {
    this.dialect = dialect;
  }

  /**
   * Counters' rows under lock, the lines that were asked for, and the time of both.
   *
   * @param blocked whose rows somebody else has locked
   */
  record Locked(
      Map<String, CounterRow> rows, List<LedgerLine> lines, Set<String> blocked, long now) {}

  /**
   * Locks the rows of {@code names}, in order, and reads their lines of the given ids. One trip
   * where the driver takes several statements at once, and two or three more where there are
   * suspects.
   *
   * @param suspects those of them that are not waited for; they come last, since whoever holds one
   *     must wait for nobody: others take all rows in order
   */
  Locked lock(
      Session session, Collection<String> names, Set<String> suspects, Map<String, Set<String>> ids)
      throws SQLException {
    Map<String, CounterRow> rows = new HashMap<>();
    List<LedgerLine> lines = new ArrayList<>();
    if (suspects.isEmpty()) {
      long newest = select(session, names, true, ids, rows, lines);
      return new Locked(rows, lines, Set.of(), dialect.now(newest));
    }
    List<String> others = names.stream().filter(n -> !suspects.contains(n)).toList();
    long newest = select(session, others, true, Map.of(), rows, lines);
    newest = Math.max(newest, select(session, suspects, false, Map.of(), rows, lines));
    find(session, ids, lines);
    Set<String> blocked = new HashSet<>(suspects);
    blocked.removeAll(rows.keySet());
    blocked.retainAll(session.among("pawl_counter", blocked));
    return new Locked(rows, lines, blocked, dialect.now(newest));
  }

  private long select(
      Session session,
      Collection<String> names,
      boolean waits,
      Map<String, Set<String>> ids,
      Map<String, CounterRow> rows,
      List<LedgerLine> lines)
      throws SQLException {
    List<List<String>> chunks = session.chunks(List.copyOf(names));
    long newest = 0;
    boolean together = chunks.size() == 1 && dialect.takesSeveralStatements() && !ids.isEmpty();
    for (List<String> chunk : chunks) {
      String lock = session.opening() + dialect.lockRows(COUNTER, chunk.size(), waits);
      String find = together ? find(ids) : "";
      PreparedStatement statement = session.prepare(together ? lock + "; " + find : lock);
      int parameter = 1;
      for (String name : chunk) {
        statement.setString(parameter++, name);
      }
      if (together) {
        bind(statement, parameter, ids);
      }
      try (ResultSet result = Session.query(statement)) {
        while (result.next()) {
          CounterRow row = CounterRow.read(result, dialect);
          rows.put(row.view().name(), row);
          newest = Math.max(newest, result.getLong(COUNTER.others().size() + 2));
        }
      }
      if (together) {
        statement.getMoreResults();
        try (ResultSet result = statement.getResultSet()) {
          readLines(result, lines, dialect);
        }
      }
    }
    if (!together) {
      find(session, ids, lines);
    }
    return newest;
  }

  private void find(Session session, Map<String, Set<String>> ids, List<LedgerLine> lines)
      throws SQLException {
    for (Map.Entry<String, Set<String>> one : ids.entrySet()) {
      for (List<String> chunk : session.chunks(List.copyOf(one.getValue()))) {
        Map<String, Set<String>> some = Map.of(one.getKey(), Set.copyOf(chunk));
        PreparedStatement statement = session.prepare(find(some));
        bind(statement, 1, some);
        try (ResultSet result = statement.executeQuery()) {
          readLines(result, lines, dialect);
        }
      }
    }
  }

  /** Sizes are rounded up to powers of two, so that statements stay prepared. */
  private static String find(Map<String, Set<String>> ids) {
    List<String> each = new ArrayList<>();
    ids.values()
        .forEach(
            some ->
                each.add(
                    "(counter = ? AND id IN (" + Table.repeated("?", padded(some.size())) + "))"));
    return LINES + String.join(" OR ", each);
  }

  private static int padded(int size) {
    return size < 2 ? size : Integer.highestOneBit(size - 1) << 1;
  }

  private static int bind(PreparedStatement statement, int first, Map<String, Set<String>> ids)
      throws SQLException {
    int parameter = first;
    for (Map.Entry<String, Set<String>> one : ids.entrySet()) {
      statement.setString(parameter++, one.getKey());
      String last = "";
      for (String id : one.getValue()) {
        statement.setString(parameter++, id);
        last = id;
      }
      for (int i = one.getValue().size(); i < padded(one.getValue().size()); i++) {
        statement.setString(parameter++, last);
      }
    }
    return parameter;
  }

  /** The open reservations that are due by {@code now}, the earliest first. */
  List<LedgerLine> due(Session session, String counter, long now, int limit) throws SQLException {
    String columns = "l." + LEDGER.columns().replace(", ", ", l.");
    PreparedStatement statement =
        session.prepare(
            "SELECT "
                + columns
                + " FROM pawl_reservation r JOIN pawl_ledger l"
                + " ON l.counter = r.counter AND l.id = r.id"
                + " WHERE r.counter = ? AND r.until <= ? ORDER BY r.until, r.id LIMIT "
                + limit);
    statement.setString(1, counter);
    dialect.bindTime(statement, 2, now);
    return readLines(statement, dialect);
  }

  /** The first lines after {@code after}. */
  List<LedgerLine> linesAfter(Session session, String counter, long after, int limit)
      throws SQLException {
    PreparedStatement statement =
        session.prepare(LINES + "counter = ? AND line > ? ORDER BY line LIMIT " + limit);
    statement.setString(1, counter);
    statement.setLong(2, after);
    return readLines(statement, dialect);
  }

  public static List<LedgerLine> readLines(PreparedStatement select, Dialect dialect)
      throws SQLException {
    List<LedgerLine> lines = new ArrayList<>();
    try (ResultSet result = select.executeQuery()) {
      readLines(result, lines, dialect);
    }
    return lines;
  }

  public static String lastLines(int limit) {
    return LINES + "counter = ? ORDER BY line DESC LIMIT " + limit;
  }

  /**
   * The first {@code limit} counters after {@code after} that can be read; fewer only where there
   * are no more. One trip, and another one for each page in which some cannot be read.
   */
  public static List<CounterView> countersAfter(
      Connection reader, Dialect dialect, String after, int limit) throws SQLException {
    List<CounterView> counters = new ArrayList<>();
    try (PreparedStatement select = reader.prepareStatement(COUNTERS_AFTER)) {
      String last = after;
      boolean goesOn = true;
      while (goesOn) {
        int missing = limit - counters.size();
        select.setString(1, last);
        select.setInt(2, missing);
        int found = 0;
        try (ResultSet result = select.executeQuery()) {
          for (; result.next(); found++) {
            last = result.getString(1);
            try {
              counters.add(CounterRow.read(result, dialect).view());
            } catch (UnreadableLineException e) {
              log.debug("left out of a list", e);
            }
          }
        }
        goesOn = found == missing && counters.size() < limit;
      }
    }
    return counters;
  }

  /** Inserts rows for counters that are new; says whether that was needed. */
  boolean insert(Session session, Collection<String> names) throws SQLException {
    for (List<String> chunk : session.chunks(List.copyOf(names))) {
      String insert = dialect.insertMissing(COUNTER, chunk.size());
      if (insert == null) {
        return false;
      }
      PreparedStatement statement = session.prepare(insert);
      int parameter = 1;
      for (String name : chunk) {
        parameter = CounterRow.unknown(name).bind(statement, parameter, dialect);
      }
      statement.executeUpdate();
    }
    return true;
  }

  Session.Write writeRows(List<CounterRow> rows) {
    return new Session.Write(
        dialect.upsert(COUNTER, rows.size()),
        (statement, first) -> {
          int parameter = first;
          for (CounterRow row : rows) {
            parameter = row.bind(statement, parameter, dialect);
          }
          return parameter;
        });
  }

  /** Makes {@code after} of a row if it stands as {@code before}, else changes none. */
  Session.Write replaceRow(CounterRow before, CounterRow after) {
    String set = String.join(" = ?, ", COUNTER.others()) + " = ?";
    String still = String.join(" = ? AND ", COUNTER.others()) + " = ?";
    return new Session.Write(
        "UPDATE pawl_counter SET " + set + " WHERE name = ? AND " + still,
        (statement, first) -> {
          int parameter = after.bindOthers(statement, first, dialect);
          statement.setString(parameter++, before.view().name());
          return before.bindOthers(statement, parameter, dialect);
        });
  }

  /** Lines that are new; it is an error if one exists. */
  Session.Write newLines(List<LedgerLine> lines) {
    return write(LEDGER.insert(lines.size()), lines);
  }

  Session.Write changedLines(List<LedgerLine> lines) {
    return write(dialect.upsert(LEDGER, lines.size()), lines);
  }

  private Session.Write write(String sql, List<LedgerLine> lines) {
    return new Session.Write(
        sql,
        (statement, first) -> {
          int parameter = first;
          for (LedgerLine line : lines) {
            parameter = line.bind(statement, parameter, dialect);
          }
          return parameter;
        });
  }

  Session.Write openReservations(List<LedgerLine> lines) {
    return new Session.Write(
        RESERVATION.insert(lines.size()),
        (statement, first) -> {
          int parameter = first;
          for (LedgerLine line : lines) {
            statement.setString(parameter++, line.counter());
            dialect.bindTime(statement, parameter++, line.entry().until());
            statement.setString(parameter++, line.entry().id());
          }
          return parameter;
        });
  }

  Session.Write closeReservations(List<LedgerLine> lines) {
    String one = "(counter = ? AND until = ? AND id = ?)";
    return new Session.Write(
        dialect.deleteByKey("pawl_reservation") + " WHERE " + either(one, lines.size()),
        (statement, first) -> {
          int parameter = first;
          for (LedgerLine line : lines) {
            statement.setString(parameter++, line.counter());
            dialect.bindTime(statement, parameter++, line.entry().until());
            statement.setString(parameter++, line.entry().id());
          }
          return parameter;
        });
  }

  /**
   * None that was entered under the id of one of {@code lines} since.
   *
   * @param lines of one counter, in their order
   */
  Session.Write deleteLines(List<LedgerLine> lines) {
    String ids = Table.repeated("?", lines.size());
    return new Session.Write(
        dialect.deleteByKey("pawl_ledger")
            + " WHERE counter = ? AND line <= ? AND id IN ("
            + ids
            + ")",
        (statement, first) -> {
          int parameter = first;
          statement.setString(parameter++, lines.get(0).counter());
          statement.setLong(parameter++, lines.get(lines.size() - 1).number());
          for (LedgerLine line : lines) {
            statement.setString(parameter++, line.entry().id());
          }
          return parameter;
        });
  }

  /** The ledger lacks lines from now on whose changes add up to {@code sum}. */
  Session.Write forget(String counter, long sum) {
    return new Session.Write(
        "UPDATE pawl_counter SET forgotten = forgotten + ? WHERE name = ?",
        (statement, first) -> {
          statement.setLong(first, sum);
          statement.setString(first + 1, counter);
          return first + 2;
        });
  }

  private static String either(String condition, int n) {
    return String.join(" OR ", java.util.Collections.nCopies(n, condition));
  }

  private static void readLines(ResultSet rows, List<LedgerLine> lines, Dialect dialect)
      throws SQLException {
    while (rows.next()) {
      lines.add(LedgerLine.read(rows, dialect));
    }
  }
}
