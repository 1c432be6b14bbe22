package io.pawl.spi;

import io.pawl.spi.rule.CounterRule;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A store that has counters as well as locks. Its obligations, which the TCK's {@code
 * CounterContract} checks:
 *
 * <ul>
 *   <li>It follows {@link CounterRule} by the store's own clock, atomically for all counters of a
 *       request.
 *   <li>It remembers an id for as long as the store states, and refuses an operation that was first
 *       made before then.
 *   <li>A counter and a lock do not share a name: whichever comes second fails with {@link
 *       io.pawl.error.NameInUseException}, if the store can see it in the same trip.
 *   <li>Every stage completes within the store's own stated timeout, after a failure with a {@link
 *       io.pawl.error.StoreException}. {@link io.pawl.error.StoreUnavailableException} means that
 *       the outcome is unknown, and the same request may be repeated; any other means that nothing
 *       was changed.
 * </ul>
 *
 * <p>Thread-safe. May block if {@link LockStore#blocks}.
 */
public interface CounterStore {

  /** Whether it has counters: a store made of others has them where those do. No round trip. */
  default boolean hasCounters() {
    return true;
  }

  /** Applies all operations of {@code request}, or none. Times in the answer are since 1970. */
  CompletionStage<CounterAnswer> apply(CounterRequest request);

  /** Returns the counter as it stands; empty if nothing was ever entered. */
  CompletionStage<Optional<CounterView>> read(String counter);

  /**
   * Returns the last lines of the counter's ledger, newest first, with times since 1970. For people
   * and tools.
   *
   * @param limit the largest number of lines, at least 1
   */
  CompletionStage<List<LedgerEntry>> history(String counter, int limit);

  /**
   * Returns counters in the order of names, as they are stored: reservations that are due count
   * still. For people and tools.
   *
   * @param after the names are after this one; empty to begin
   * @param limit the largest number of counters, at least 1
   */
  CompletionStage<List<CounterView>> list(String after, int limit);

  /**
   * Forgets the operations whose ids were first used before {@code before}, except open
   * reservations. From then on an operation that old is refused. May take a while. Fails without a
   * change if {@code before} is later than the store's clock.
   *
   * @return how many lines were removed, without those of a step whose answer was lost
   */
  CompletionStage<Long> prune(String counter, Instant before);
}
