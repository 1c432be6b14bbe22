package io.pawl;

import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome;
import io.pawl.error.StoreException;
import java.time.Instant;
import java.util.List;

/**
 * What a counter remembers of its changes, for people and tools. Obtained from {@link
 * Counter#ledger}; thread-safe. Its methods block, and throw as those of {@link Counter} do.
 */
public final class CounterLedger {

  private final Counters counters;
  private final String name;

  CounterLedger(Counters counters, String name) {
    this.counters = counters;
    this.name = name;
  }

  /**
   * Returns the last operations, newest first. One round trip.
   *
   * @param limit the largest number of operations, at least 1
   */
  public List<Outcome> history(int limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit: " + limit + " is not positive");
    }
    return counters
        .look(
            name,
            store -> store.history(name, limit),
            entries -> entries.stream().map(Counters::outcome).toList())
        .now();
  }

  /**
   * Forgets the operations whose ids were first used before {@code before}, except open
   * reservations. From then on an operation that old is refused ({@link OperationTooOldException}).
   * Takes a while if there are many; a client that closes does not wait for it, and what is left is
   * for the next time.
   *
   * @param before from 1970 to now, by this client's clock and by the store's
   * @return how many operations were forgotten, without those of a step whose answer was lost
   * @throws IllegalArgumentException when {@code before} is earlier than 1970 or later than this
   *     client's clock, before anything is sent
   * @throws StoreException when {@code before} is later than the store's clock; nothing was changed
   */
  public long prune(Instant before) {
    return counters.prune(name, before);
  }
}
