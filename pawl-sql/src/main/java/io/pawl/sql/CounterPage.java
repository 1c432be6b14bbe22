package io.pawl.sql;

import io.pawl.NameInUseException;
import io.pawl.spi.CounterRule;
import io.pawl.spi.CounterState;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What one transaction has read of counters and their ledgers, and what it makes of them. */
final class CounterPage {

  /** How many reservations that are due one transaction returns, of one counter. */
  static final int MAX_DUE = 1_000;

  /** Which ids are looked for before anything is decided. */
  enum Search {
    /** Those whose operation may enter nothing. */
    NEEDED,
    /** Those that somebody may have used before. */
    LIKELY,
    /** All, since an earlier try of this batch may have been applied. */
    ALL;

    boolean covers(Posting<?> posting) {
      return switch (this) {
        case NEEDED -> posting.mayBeKnown() && !posting.entersItsId();
        case LIKELY -> posting.mayBeKnown();
        case ALL -> true;
      };
    }
  }

  private final Session session;
  private final CounterTables tables;
  private final long now;
  private final Set<String> locks;
  private final TreeMap<String, CounterRow> rows = new TreeMap<>();
  private final TreeMap<String, CounterState> states = new TreeMap<>();
  private final Map<String, Map<String, LedgerLine>> lines = new HashMap<>();

  private CounterPage(
      Session session, CounterTables tables, CounterTables.Locked locked, Set<String> locks) {
    this.session = session;
    this.tables = tables;
    this.now = locked.now();
    this.locks = locks;
  }

  /**
   * Locks the rows that {@code batch} needs, makes those that are missing, and reads what is known
   * of the ids.
   *
   * @param search an id that is not looked for and known fails the writing as a conflict
   */
  static CounterPage read(
      Session session, CounterTables tables, List<Posting<?>> batch, Search search)
      throws SQLException {
    TreeSet<String> names = new TreeSet<>();
    TreeSet<String> missing = new TreeSet<>();
    TreeMap<String, Set<String>> ids = new TreeMap<>();
    for (Posting<?> posting : batch) {
      names.addAll(posting.counters());
      if (posting.creates()) {
        missing.addAll(posting.counters());
      }
      if (search.covers(posting)) {
        addIds(ids, posting);
      }
    }
    CounterTables.Locked locked = tables.lock(session, names, ids);
    if (search == Search.NEEDED && mayBeForgotten(batch, locked.rows())) {
      return read(session, tables, batch, Search.LIKELY);
    }
    missing.removeAll(locked.rows().keySet());
    Set<String> locks = session.among("pawl_lock", missing);
    missing.removeAll(locks);
    if (!missing.isEmpty() && tables.insert(session, missing)) {
      locked = tables.lock(session, names, ids);
    }
    CounterPage page = new CounterPage(session, tables, locked, locks);
    missing.forEach(name -> page.know(CounterRow.unknown(name)));
    locked.rows().values().forEach(page::know);
    locked.lines().forEach(page::know);
    for (Posting<?> posting : batch) {
      if (posting instanceof Posting.Prune prune) {
        page.loadOld(prune);
      }
    }
    return page;
  }

  private static boolean mayBeForgotten(List<Posting<?>> batch, Map<String, CounterRow> rows) {
    for (Posting<?> posting : batch) {
      for (String name : posting.counters()) {
        CounterRow row = rows.get(name);
        if (row != null && posting.mayBeForgottenBy(row.view())) {
          return true;
        }
      }
    }
    return false;
  }

  private static void addIds(Map<String, Set<String>> ids, Posting<?> posting) {
    String id = posting.id();
    if (id != null) {
      for (String name : posting.counters()) {
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

  private void loadOld(Posting.Prune prune) throws SQLException {
    List<LedgerLine> old =
        tables.old(session, prune.counter(), prune.beforeMillis(), prune.afterId(), MAX_DUE);
    old.forEach(this::know);
    prune.read(old);
  }

  /** Reads the reservations that are due; answers whether those were all. */
  boolean loadDue() throws SQLException {
    boolean all = true;
    for (CounterRow row : rows.values()) {
      if (row.view().reserved() > 0) {
        List<LedgerLine> due = tables.due(session, row.view().name(), now, MAX_DUE);
        due.forEach(this::know);
        all &= due.size() < MAX_DUE;
      }
    }
    return all;
  }

  /** Returns the reservations that were read and are due. */
  void settle() {
    states.values().forEach(state -> CounterRule.settle(state, now));
  }

  <T> void decide(Posting<T> posting) {
    posting.decide(
        () -> {
          for (String name : posting.counters()) {
            if (posting.creates() && locks.contains(name)) {
              throw NameInUseException.byLock(name);
            }
          }
          return posting.decide(states, now);
        });
  }

  /** What has changed, table by table. */
  List<Session.Write> writes() {
    List<CounterRow> changedRows = new ArrayList<>();
    List<LedgerLine> fresh = new ArrayList<>();
    List<LedgerLine> changed = new ArrayList<>();
    List<LedgerLine> removed = new ArrayList<>();
    List<LedgerLine> opened = new ArrayList<>();
    List<LedgerLine> closed = new ArrayList<>();
    for (CounterRow row : rows.values()) {
      CounterState state = Objects.requireNonNull(states.get(row.view().name()));
      long lastLine = row.lastLine();
      for (LedgerEntry entry : state.takeChanges()) {
        LedgerLine before = lines(row.view().name()).get(entry.id());
        long number = before == null ? ++lastLine : before.number();
        LedgerLine after = new LedgerLine(row.view().name(), number, entry);
        (before == null ? fresh : changed).add(after);
        addTo(opened, closed, before, after);
      }
      for (LedgerEntry entry : state.takeForgotten()) {
        LedgerLine before = lines(row.view().name()).get(entry.id());
        if (before != null) {
          removed.add(before);
          addTo(opened, closed, before, null);
        }
      }
      CounterView view = state.view();
      if (lastLine != row.lastLine() || !view.equals(row.view())) {
        changedRows.add(new CounterRow(view, lastLine));
      }
    }
    List<Session.Write> writes = new ArrayList<>();
    chunks(fresh).forEach(some -> writes.add(tables.newLines(some)));
    chunks(changed).forEach(some -> writes.add(tables.changedLines(some)));
    chunks(opened).forEach(some -> writes.add(CounterTables.openReservations(some)));
    chunks(closed).forEach(some -> writes.add(CounterTables.closeReservations(some)));
    chunks(removed).forEach(some -> writes.add(CounterTables.deleteLines(some)));
    chunks(changedRows).forEach(some -> writes.add(tables.writeRows(some)));
    return writes;
  }

  private <T> List<List<T>> chunks(Collection<T> all) {
    return session.chunks(List.copyOf(all));
  }

  private static void addTo(
      List<LedgerLine> opened,
      List<LedgerLine> closed,
      @Nullable LedgerLine before,
      @Nullable LedgerLine after) {
    boolean wasOpen = before != null && before.isOpenReservation();
    boolean isOpen = after != null && after.isOpenReservation();
    if (isOpen && !wasOpen) {
      opened.add(after);
    } else if (wasOpen && !isOpen) {
      closed.add(before);
    }
  }
}
