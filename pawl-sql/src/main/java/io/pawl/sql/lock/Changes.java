package io.pawl.sql.lock;

import io.pawl.spi.ClaimId;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a batch made of its locks, as rows to write. */
final class Changes {

  private final List<Row> locks = new ArrayList<>();
  private final List<WaiterRow> joined = new ArrayList<>();
  private final List<WaiterRow> changed = new ArrayList<>();
  private final List<Long> left = new ArrayList<>();

  /** Notes how {@code after} differs from {@code before}. */
  void add(StoredLock before, LockState after) {
    Row row = Row.of(after);
    if (!row.equals(before.row())) {
      locks.add(row);
    }
    Map<ClaimId, Entry> waiting = new LinkedHashMap<>();
    after.waiters().forEach(entry -> waiting.put(entry.id(), entry));
    before.waiters().forEach(known -> compare(known, waiting));
    List<Entry> newcomers = List.copyOf(waiting.values());
    for (int from = 0; from < newcomers.size(); from += WaiterRow.MOST_CLAIMS) {
      int to = Math.min(newcomers.size(), from + WaiterRow.MOST_CLAIMS);
      joined.add(WaiterRow.of(after.lock(), newcomers.subList(from, to)));
    }
  }

  /** Takes the claims of {@code known} from {@code waiting}. */
  private void compare(WaiterRow known, Map<ClaimId, Entry> waiting) {
    List<Entry> stay = new ArrayList<>();
    boolean same = true;
    for (Entry claim : known.claims()) {
      Entry now = waiting.remove(claim.id());
      if (now != null) {
        stay.add(now);
      }
      same &= now != null && now.until() == claim.until();
    }
    if (stay.isEmpty()) {
      left.add(known.position());
    } else if (!same) {
      changed.add(known.with(stay));
    }
  }

  /** Rows of locks to write. */
  List<Row> locks() {
    return locks;
  }

  /** Rows of claims that joined a queue, in the queue's order. */
  List<WaiterRow> joined() {
    return joined;
  }

  /** Rows some of whose claims have left, or are kept in the queue for longer. */
  List<WaiterRow> changed() {
    return changed;
  }

  /** The positions of rows whose claims have all left. */
  List<Long> left() {
    return left;
  }

  /** Whether claims joined queues, and nothing else happened. */
  boolean areJoins() {
    return locks.isEmpty() && left.isEmpty() && changed.isEmpty() && !joined.isEmpty();
  }

  boolean areNone() {
    return locks.isEmpty() && joined.isEmpty() && changed.isEmpty() && left.isEmpty();
  }
}
