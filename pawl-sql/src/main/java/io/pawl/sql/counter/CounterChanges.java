package io.pawl.sql.counter;

import io.pawl.sql.transaction.Session;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a transaction writes of counters: lines of their ledgers, and then their rows. */
final class CounterChanges {

  private final List<LedgerLine> fresh = new ArrayList<>();
  private final List<LedgerLine> changed = new ArrayList<>();
  private final List<LedgerLine> opened = new ArrayList<>();
  private final List<LedgerLine> closed = new ArrayList<>();
  private final List<CounterRow> rows = new ArrayList<>();

  void line(@Nullable LedgerLine before, LedgerLine after) {
    (before == null ? fresh : changed).add(after);
    boolean wasOpen = before != null && before.isOpenReservation();
    if (after.isOpenReservation() && !wasOpen) {
      opened.add(after);
    } else if (wasOpen && !after.isOpenReservation()) {
      closed.add(before);
    }
  }

  void row(CounterRow after) {
    rows.add(after);
  }

  /** Whether lines of one counter are entered, and nothing else. */
  boolean enterLinesOnly() {
    return rows.size() == 1 && !fresh.isEmpty() && changed.isEmpty() && opened.isEmpty();
  }

  /** Table by table. */
  List<Session.Write> writes(CounterTables tables, Session session) {
    List<Session.Write> writes = new ArrayList<>();
    session.chunks(fresh).forEach(some -> writes.add(tables.newLines(some)));
    session.chunks(changed).forEach(some -> writes.add(tables.changedLines(some)));
    session.chunks(opened).forEach(some -> writes.add(tables.openReservations(some)));
    session.chunks(closed).forEach(some -> writes.add(tables.closeReservations(some)));
    session.chunks(rows).forEach(some -> writes.add(tables.writeRows(some)));
    return writes;
  }

  /**
   * Those of {@link #enterLinesOnly}; the last changes no row unless it stands as {@code before}.
   */
  List<Session.Write> writesIfStill(CounterRow before, CounterTables tables, Session session) {
    List<Session.Write> writes = new ArrayList<>();
    session.chunks(fresh).forEach(some -> writes.add(tables.newLines(some)));
    writes.add(tables.replaceRow(before, rows.get(0)));
    return writes;
  }
}
