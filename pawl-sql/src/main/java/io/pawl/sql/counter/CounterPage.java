package io.pawl.sql.counter;

import io.pawl.error.NameInUseException;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.rule.CounterRule;
import io.pawl.spi.rule.CounterState;
import io.pawl.sql.transaction.BlockedRows;
import io.pawl.sql.transaction.Session;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What is known of counters and their ledgers within one transaction, and what it makes of it. */
final class CounterPage {

  /** How many reservations that are due one transaction returns, of all its counters. */
  static final int MAX_DUE = 1_000;

  /** Which ids are looked for before anything is decided. */
  enum Search {
    /** Those whose operation may enter nothing. */
    NEEDED,
    /** Those that somebody may have used before. */
    LIKELY,
    /** All, since an earlier try of this batch may have been applied. */
    ALL;

    boolean covers(PendingOperation<?> operation) {
      return switch (this) {
        case NEEDED -> operation.mayBeKnown() && !operation.entersItsId();
        case LIKELY -> operation.mayBeKnown();
        case ALL -> true;
      };
    }

    /**
     * Whether an id that is not looked for may be taken for too old by {@code rows}, or for a
     * conflict, though it is known: nothing is written then.
     */
    boolean mayMiss(List<PendingOperation<?>> batch, Map<String, CounterRow> rows) {
      return this == NEEDED
          && (limits(batch) || sharesIdsOfBaskets(batch) || mayBeForgotten(batch, rows));
    }

    /** Whether an id may be entered into some ledgers of a basket by another operation. */
    private static boolean sharesIdsOfBaskets(List<PendingOperation<?>> batch) {
      Set<String> ids = new HashSet<>();
      return batch.stream().anyMatch(operation -> operation.names().size() > 1)
          && batch.stream().map(PendingOperation::id).anyMatch(id -> id != null && !ids.add(id));
    }

    /** Whether an id may be too old for another operation of the batch, though not for its row. */
    private static boolean limits(List<PendingOperation<?>> batch) {
      return batch.stream().anyMatch(PendingOperation.KeepFrom.class::isInstance);
    }

    private static boolean mayBeForgotten(
        List<PendingOperation<?>> batch, Map<String, CounterRow> rows) {
      for (PendingOperation<?> operation : batch) {
        for (String name : operation.names()) {
          CounterRow row = rows.get(name);
          if (row != null && operation.mayBeForgottenBy(row.view())) {
            return true;
          }
        }
      }
      return false;
    }
  }

  private final long now;
  private final long atNanos;
  private final Set<String> blocked;
  private final Set<String> locks;
  private final TreeMap<String, CounterRow> rows = new TreeMap<>();
  private final TreeMap<String, CounterState> states = new TreeMap<>();
  private final Map<String, Map<String, LedgerLine>> lines = new HashMap<>();
  private final Map<String, CounterRow> after = new HashMap<>();
  private boolean settled = true;

  private CounterPage(long now, Set<String> blocked, Set<String> locks) {
    this.now = now;
    this.atNanos = System.nanoTime();
    this.blocked = blocked;
    this.locks = locks;
  }

  /**
   * Locks the rows that {@code batch} needs, makes those that are missing, and reads what is known
   * of the ids.
   *
   * @param search an id that is not looked for and known fails the writing as a conflict
   * @param suspects those of the rows that are not waited for
   * @param blockedRows what is known of the suspects
   */
  static CounterPage read(
      Session session,
      CounterTables tables,
      List<PendingOperation<?>> batch,
      Search search,
      Set<String> suspects,
      BlockedRows<?> blockedRows)
      throws SQLException {
    TreeSet<String> names = new TreeSet<>();
    TreeSet<String> missing = new TreeSet<>();
    TreeMap<String, Set<String>> ids = new TreeMap<>();
    for (PendingOperation<?> operation : batch) {
      names.addAll(operation.names());
      if (operation.creates()) {
        missing.addAll(operation.names());
      }
      if (search.covers(operation)) {
        addIds(ids, operation);
      }
    }
    CounterTables.Locked locked = tables.lock(session, names, suspects, ids);
    if (search.mayMiss(batch, locked.rows())) {
      return read(session, tables, batch, Search.LIKELY, suspects, blockedRows);
    }
    missing.removeAll(locked.rows().keySet());
    missing.removeAll(locked.blocked());
    blockedRows.areLocked(locked.blocked());
    Set<String> locks = session.among("pawl_lock", missing);
    missing.removeAll(locks);
    Set<String> notMade =
        blockedRows.notToBeMade(session, missing, some -> tables.insert(session, some));
    missing.removeAll(notMade);
    if (!missing.isEmpty() && tables.insert(session, missing)) {
      // somebody else may have made, used and locked them since the first look
      locked = tables.lock(session, names, suspects, ids);
      if (search.mayMiss(batch, locked.rows())) {
        return read(session, tables, batch, Search.LIKELY, suspects, blockedRows);
      }
      missing.removeAll(locked.blocked());
    }
    Set<String> blocked = new HashSet<>(locked.blocked());
    blocked.addAll(notMade);
    CounterPage page = new CounterPage(locked.now(), blocked, locks);
    missing.forEach(name -> page.know(CounterRow.unknown(name)));
    locked.rows().values().forEach(page::know);
    locked.lines().forEach(page::know);
    return page;
  }

  /**
   * A page of one counter that was not read: its row may stand so, and none of its ids is known.
   */
  static CounterPage guess(CounterRow row, long now) {
    CounterPage page = new CounterPage(now, Set.of(), Set.of());
    page.know(row);
    return page;
  }

  private static void addIds(Map<String, Set<String>> ids, PendingOperation<?> operation) {
    String id = operation.id();
    if (id != null) {
      for (String name : operation.names()) {
        ids.computeIfAbsent(name, key -> new TreeSet<>()).add(id);
      }
    }
  }

  private void know(CounterRow row) {
    rows.put(row.view().name(), row);
    states.put(row.view().name(), new CounterState(row.view(), List.of()));
    lines.put(row.view().name(), new HashMap<>());
  }

  private void know(LedgerLine line) {
    CounterState state = states.get(line.counter());
    if (state != null && lines(line.counter()).put(line.entry().id(), line) == null) {
      state.know(line.entry());
    }
  }

  private Map<String, LedgerLine> lines(String counter) {
    return Objects.requireNonNull(lines.get(counter), counter);
  }

  /** The store's time, at which the rows were locked. */
  long now() {
    return now;
  }

  /** When {@link #now} was known here. */
  long atNanos() {
    return atNanos;
  }

  /** The counters whose rows are somebody else's; nothing about them is decided. */
  Set<String> blocked() {
    return blocked;
  }

  /** A counter of which lines were found: what they say may be told. */
  Optional<String> toldFrom() {
    return lines.entrySet().stream()
        .filter(found -> !found.getValue().isEmpty())
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /** Reads the reservations that are due, some of them where they are very many. */
  void loadDue(Session session, CounterTables tables) throws SQLException {
    int most = MAX_DUE;
    for (CounterRow row : rows.values()) {
      if (most > 0 && row.view().reserved() > 0) {
        List<LedgerLine> due = tables.due(session, row.view().name(), now, most);
        due.forEach(this::know);
        most -= due.size();
      }
    }
    settled = most > 0;
  }

  /** Decides {@code batch}; where reservations are left that are due, only returns those read. */
  void decide(List<PendingOperation<?>> batch) {
    if (settled) {
      batch.forEach(this::decide);
    } else {
      states.values().forEach(state -> CounterRule.settle(state, now));
    }
  }

  /** Whether {@link #decide} did decide. */
  boolean isDecided() {
    return settled;
  }

  private <T> void decide(PendingOperation<T> operation) {
    if (operation.names().stream().anyMatch(blocked::contains)) {
      operation.putOff();
      return;
    }
    operation.decide(
        () -> {
          for (String name : operation.names()) {
            if (operation.creates() && locks.contains(name)) {
              throw NameInUseException.byLock(name);
            }
          }
          return operation.decide(states, now);
        });
  }

  /** What was decided, to be asked for once. */
  CounterChanges changes() {
    CounterChanges changes = new CounterChanges();
    for (CounterRow row : rows.values()) {
      String name = row.view().name();
      CounterState state = Objects.requireNonNull(states.get(name));
      long lastLine = row.lastLine();
      for (LedgerEntry entry : state.takeChanges()) {
        LedgerLine before = lines(name).get(entry.id());
        long number = before == null ? ++lastLine : before.number();
        changes.line(before, new LedgerLine(name, number, entry));
      }
      CounterView view = state.view();
      boolean changed = lastLine != row.lastLine() || !view.equals(row.view());
      CounterRow then = changed ? new CounterRow(view, lastLine) : row;
      after.put(name, then);
      if (changed) {
        changes.row(then);
      }
    }
    return changes;
  }

  /** The rows once {@link #changes} are made. */
  Map<String, CounterRow> after() {
    return after;
  }
}
