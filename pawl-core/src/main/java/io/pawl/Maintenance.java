package io.pawl;

import io.pawl.counter.OperationTooOldException;
import io.pawl.engine.Engine;
import io.pawl.engine.Lifecycle;
import io.pawl.engine.Retry;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import io.pawl.options.Retention;
import io.pawl.spi.Maintainable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * What keeps a store small, and what has to be done after it was restored. Obtained from {@link
 * Pawl#maintenance}; thread-safe. Its methods block, for minutes where there is much; the store
 * works in small steps and serves others between them. What was done stays done if a method fails,
 * and any of them may be repeated. {@link PawlOptions#retention} does the first two by itself.
 */
public final class Maintenance {

  private static final int PAGE = 1_000;
  private static final int MOST_TOLD = 10;
  private static final String ALL = "*";

  private final Engine engine;
  private final Counters counters;

  Maintenance(Engine engine, Counters counters) {
    this.engine = engine;
    this.counters = counters;
  }

  /**
   * Forgets the locks that nobody holds or waits for, and that nobody has used for {@code idle}.
   * Their tokens go on growing: should such a lock be used again, its first token is larger than
   * all before. Whether it is a lock or a semaphore is fixed anew.
   *
   * @param idle 1 hour to 100 years, by the store's clock
   * @return how many locks were forgotten
   * @throws IllegalArgumentException for any other duration
   * @throws UnsupportedOperationException when the store forgets by itself
   * @throws StoreException when the store fails, and the client's patience, which counts from the
   *     call, is over: after a longer purge at once
   */
  public long purge(Duration idle) {
    Retention.check("idle", idle);
    return ask(store -> store.purge(idle));
  }

  /**
   * Forgets the operations of all counters whose ids were first used before {@code before}, as
   * {@link CounterLedger#prune} does for one. From then on an operation that old is refused ({@link
   * OperationTooOldException}). Where that fails for a counter, the others are pruned all the same.
   *
   * @param before from 1970 to now
   * @return how many operations were forgotten
   * @throws IllegalArgumentException for any other time, before anything is sent
   * @throws UnsupportedOperationException when the store has no counters
   * @throws StoreException the first failure, with the others suppressed in it
   */
  public long pruneLedgers(Instant before) {
    counters.checkPast("all counters", before);
    long pruned = 0;
    StoreException failure = null;
    for (String counter : counters()) {
      try {
        pruned += counters.ledger(counter).prune(before);
      } catch (StoreException e) {
        if (failure == null) {
          failure = e;
        } else if (failure.getSuppressed().length < MOST_TOLD) {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
    return pruned;
  }

  /**
   * Returns the names of all counters, in the store's order. One round trip for a thousand of them.
   *
   * @throws UnsupportedOperationException when the store has no counters
   * @throws StoreException when the store fails, or has not answered, for the client's patience and
   *     its {@linkplain io.pawl.spi.LockStore#answerTime answer time}
   */
  public List<String> counters() {
    List<String> names = new ArrayList<>();
    List<String> page = counters.namesAfter("", PAGE);
    while (!page.isEmpty()) {
      names.addAll(page);
      page = page.size() < PAGE ? List.of() : counters.namesAfter(page.get(PAGE - 1), PAGE);
    }
    return names;
  }

  /**
   * Raises the fencing tokens of all locks, used or not, so that the next tokens are larger than
   * any that the store may have granted and forgotten: after a restore from a backup, or a failover
   * that has lost commits. Fences go on refusing holders from before. Whoever holds a lock keeps it
   * under its token. To be called while no other client uses the store: a lock that is first used
   * at that moment may be left out.
   *
   * @param by 1 to 2^50; {@link Maintainable#TOKENS_RAISED_BY} is more than a restore can lose
   * @return how many locks the store knows
   * @throws IllegalArgumentException for any other number
   * @throws UnsupportedOperationException when the store cannot
   * @throws StoreException when the store fails, and the client's patience, which counts from the
   *     call, is over; or when it has too few tokens left
   */
  public long raiseTokens(long by) {
    if (by < 1 || by > Maintainable.MOST_RAISED) {
      throw new IllegalArgumentException("by: " + by + " is not between 1 and 2^50");
    }
    return ask(store -> store.raiseTokens(by));
  }

  private long ask(Function<Maintainable, CompletionStage<Long>> question) {
    if (engine.lifecycle().isClosed()) {
      throw Lifecycle.closedException(ALL);
    }
    if (!(engine.store() instanceof Maintainable store) || !store.isMaintained()) {
      throw new UnsupportedOperationException(
          engine.store().describe()
              + " has nothing to maintain: locks are not kept for ever there");
    }
    return Retry.await(engine, ALL, Retry.start(engine, ALL, () -> question.apply(store), true));
  }

  @Override
  public String toString() {
    return "Maintenance[" + engine.store().describe() + "]";
  }
}
