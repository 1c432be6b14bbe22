package io.pawl.sql.counter;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreUnavailableException;
import io.pawl.sql.counter.PendingOperation.KeepFrom;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Forgets what is old in ledgers. First the counter refuses operations that old, for good; then
 * lines are deleted, in the order in which they were entered, in short transactions that take the
 * counter's row last, so that whoever changes the counter waits for a commit at most. Between two
 * of them is a pause three times as long as the transaction took: a database that is busy with what
 * was deleted before makes itself more time.
 *
 * <p>The last line looked at is one that was entered too late; a line after that stays until the
 * next time, though its id be older. Used by one thread at a time; other clients may prune the same
 * counter meanwhile.
 *
 * <p>Round trips: 2 or 3 to begin, then 3 for 200 lines, 4 on MySQL.
 */
public final class LedgerPruner implements AutoCloseable {

  /** How many lines a transaction looks at. */
  private static final int LINES = 200;

  /** How much longer the pause after a step is than the step. */
  private static final long PAUSE = 3;

  private static final long LONGEST_PAUSE_NANOS = 10_000_000_000L;

  /**
   * @param removed how many lines
   * @param lastLine where to go on, null at the end
   */
  private record Step(int removed, @Nullable Long lastLine) {}

  private final Database database;
  private final CounterCombiner counters;
  private final CounterTables tables;
  private final Transactions transactions;
  private final CountDownLatch closing = new CountDownLatch(1);

  /**
   * @param counters where counters are changed
   */
  public LedgerPruner(Database database, CounterCombiner counters) {
    this.database = database;
    this.counters = counters;
    this.tables = new CounterTables(database.dialect());
    this.transactions = new Transactions(database, new Tally());
  }

  /** See {@link io.pawl.spi.CounterStore#prune}. */
  public long prune(String counter, long beforeMillis) {
    if (!counters.submit(new KeepFrom(counter, beforeMillis)).join()) {
      return 0;
    }
    long removed = 0;
    try {
      for (Long line = 0L; line != null; ) {
        long startedAt = System.nanoTime();
        Step step = step(counter, beforeMillis, line);
        removed += step.removed();
        line = step.lastLine();
        if (line != null) {
          pause(PAUSE * (System.nanoTime() - startedAt));
        }
      }
    } finally {
      transactions.close();
    }
    return removed;
  }

  private void pause(long nanos) {
    if (Uninterruptibly.await(closing, Math.min(nanos, LONGEST_PAUSE_NANOS))) {
      throw new StoreUnavailableException(
          database.describe() + ": the store was closed before the ledger was pruned", null);
    }
  }

  /** One transaction; nothing is kept of the application's connections between two. */
  private Step step(String counter, long beforeMillis, long afterLine) {
    try {
      return transactions.run(session -> step(session, counter, beforeMillis, afterLine));
    } finally {
      transactions.rest();
    }
  }

  private Step step(Session session, String counter, long beforeMillis, long afterLine)
      throws SQLException {
    List<LedgerLine> page = tables.linesAfter(session, counter, afterLine, LINES);
    List<LedgerLine> old =
        page.stream()
            .filter(line -> line.entry().issuedMillis() < beforeMillis && !line.isOpenReservation())
            .toList();
    int deleted = 0;
    for (List<LedgerLine> some : session.chunks(old)) {
      deleted += session.change(tables.deleteLines(some));
    }
    if (deleted < old.size()) { // somebody else deleted some, and has counted them
      session.rollBack();
      return new Step(0, afterLine);
    }
    if (old.isEmpty()) {
      session.commit();
    } else {
      session.commitAll(List.of(tables.forget(counter, sum(old))));
    }
    boolean last = page.size() < LINES || page.get(page.size() - 1).entry().at() >= beforeMillis;
    return new Step(deleted, last ? null : page.get(page.size() - 1).number());
  }

  private static long sum(List<LedgerLine> lines) {
    return lines.stream().mapToLong(line -> line.entry().change()).sum();
  }

  /** No further step begins. */
  @Override
  public void close() {
    closing.countDown();
    transactions.refuseMore();
  }
}
