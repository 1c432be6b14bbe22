package io.pawl.sql.lock;

import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What a batch made of its locks, as rows to write. */
final class Changes {

  private final List<Row> locks = new ArrayList<>();
  private final List<WaiterRow> waiters = new ArrayList<>();
  private final List<Long> left = new ArrayList<>();
  private int moved;

  /** Notes how {@code after} differs from {@code before}. */
  void add(StoredLock before, LockState after) {
    Row row = Row.of(after);
    if (!row.equals(before.row())) {
      locks.add(row);
    }
    Map<String, WaiterRow> gone = new HashMap<>();
    before.waiters().forEach(waiter -> gone.put(waiter.claim(), waiter));
    for (Entry entry : after.waiters()) {
      WaiterRow known = gone.remove(entry.id().toString());
      if (known == null || !known.isKeptAsLongAs(entry)) {
        waiters.add(WaiterRow.of(after.lock(), entry));
        moved += known == null ? 0 : 1;
      }
    }
    gone.values().forEach(waiter -> left.add(waiter.position()));
  }

  /** Rows of locks to write. */
  List<Row> locks() {
    return locks;
  }

  /** Rows of claims that joined a queue, or are kept there for longer, in the queue's order. */
  List<WaiterRow> waiters() {
    return waiters;
  }

  /** The positions of those who have left a queue. */
  List<Long> left() {
    return left;
  }

  /** Whether claims joined queues, and nothing else happened. */
  boolean areJoins() {
    return locks.isEmpty() && left.isEmpty() && moved == 0 && !waiters.isEmpty();
  }

  boolean areNone() {
    return locks.isEmpty() && waiters.isEmpty() && left.isEmpty();
  }
}
