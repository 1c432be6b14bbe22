package io.pawl.sql.counter;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counters' rows as this client's last transactions have left them: a guess at how they stand, from
 * which a batch can be decided before anything is read. The guess is checked as the row is written
 * ({@link CounterTables#replaceRow}). What it decides by is all in the row, but for the ids, whose
 * keys the ledger checks; so a row that equals the guess is as good as one that was read, whoever
 * wrote it.
 *
 * <p>Not thread-safe.
 */
final class CounterGuesses {

  private static final int MAX_KNOWN = 1_000;

  /** For how long the store's time is told from the time at which it was last read. */
  private static final long LONGEST_NANOS = 10_000_000_000L;

  /** How many batches are read once a guess was wrong: somebody else uses the counter too. */
  private static final int SHY_BATCHES = 16;

  /** A row, and when the store's time was read. */
  private record Known(CounterRow row, long millis, long atNanos) {}

  private final Map<String, Known> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Known> eldest) {
          return size() > MAX_KNOWN;
        }
      };
  private int shy;

  /**
   * A batch that was decided by a guess.
   *
   * @param before as the row must be
   */
  record Guess(CounterRow before, CounterChanges changes) {}

  /**
   * Decides {@code batch}, if all of it is about one counter that is known; else answers null, and
   * the counter that it begins with is not known any more.
   *
   * @param looksUp whether ids that somebody may have used are to be looked up
   */
  @Nullable Guess decide(List<PendingOperation<?>> batch, boolean looksUp, long nowNanos) {
    if (batch.isEmpty() || shy > 0) {
      return null;
    }
    String counter = batch.get(0).names().iterator().next();
    Known latest = known.remove(counter);
    if (latest == null || nowNanos - latest.atNanos > LONGEST_NANOS) {
      return null;
    }
    for (PendingOperation<?> operation : batch) {
      if (!operation.mayBeGuessed()
          || (looksUp && operation.mayBeKnown())
          || operation.mayBeForgottenBy(latest.row.view())
          || !operation.names().contains(counter)) {
        return null;
      }
    }
    long now = latest.millis + (nowNanos - latest.atNanos) / 1_000_000;
    CounterPage page = CounterPage.guess(latest.row, now);
    page.decide(batch);
    CounterChanges changes = page.changes();
    if (!changes.enterLinesOnly()) {
      return null;
    }
    page.after().values().forEach(row -> remember(row, latest.millis, latest.atNanos));
    return new Guess(latest.row, changes);
  }

  private void remember(CounterRow row, long millis, long atNanos) {
    if (row.view().reserved() == 0) {
      known.put(row.view().name(), new Known(row, millis, atNanos));
    } else {
      known.remove(row.view().name());
    }
  }

  void forget(Collection<String> counters) {
    counters.forEach(known::remove);
  }

  /** The row did not stand as it was guessed. */
  void wasWrong(Guess guess) {
    shy = SHY_BATCHES;
    known.remove(guess.before.view().name());
  }

  /** A batch was read, decided and committed. */
  void wasRead(CounterPage page) {
    page.after().values().forEach(row -> remember(row, page.now(), page.atNanos()));
    shy = Math.max(0, shy - 1);
  }
}
