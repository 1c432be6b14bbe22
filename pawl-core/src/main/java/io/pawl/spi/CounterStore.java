package io.pawl.spi;

import io.pawl.spi.rule.CounterRule;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * A store that has counters beside its locks. What it owes (the TCK's {@code CounterContract}
 * checks it):
 *
 * <ul>
 *   <li>What {@link CounterRule} says, by the store's own clock, atomically for all counters of a
 *       request.
 *   <li>An id is remembered for as long as the store states, and an operation that was first made
 *       before then is refused.
 *   <li>A counter and a lock do not share a name: whichever comes second fails with {@link
 *       io.pawl.error.NameInUseException}, where the store can see it in the same trip.
 *   <li>Every stage completes within the store's own stated timeout, with a {@link
 *       io.pawl.error.StoreException} where it failed. {@link
 *       io.pawl.error.StoreUnavailableException} means that the outcome is unknown, and the same
 *       request may be repeated; any other that nothing was changed.
 * </ul>
 *
 * <p>Thread-safe. May block where {@link LockStore#blocks} says so.
 */
public interface CounterStore {

  /** Applies all operations of {@code request}, or none. Times in the answer are since 1970. */
  CompletionStage<CounterAnswer> apply(CounterRequest request);

  /** The counter as it stands; empty where nothing was ever entered. */
  CompletionStage<Optional<CounterView>> read(String counter);

  /**
   * The last lines of the counter's ledger, newest first, with times since 1970. For people and
   * tools.
   *
   * @param limit at most so many, at least 1
   */
  CompletionStage<List<LedgerEntry>> history(String counter, int limit);

  /**
   * Forgets the operations whose ids were first used before {@code before}, except open
   * reservations; from then on what is that old is refused. May take a while. Fails, having changed
   * nothing, where {@code before} is later than the store's clock.
   *
   * @return how many lines it removed
   */
  CompletionStage<Long> prune(String counter, Instant before);
}
