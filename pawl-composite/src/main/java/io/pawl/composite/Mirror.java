package io.pawl.composite;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Operation;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the gate's counters equal to the truth's: value and floor. A counter that this client uses
 * is compared once every {@link GateOptions#settle}, and once more after that, or after a
 * difference; hence both agree within two periods of the last operation, whoever crashed, as long
 * as one client that used it lives.
 *
 * <p>Nobody needs the gate's own ledger of its copy, which would grow with each write. Hence writes
 * are made in <em>generations</em>, which take the place of the times at which ids are first used:
 * whoever has written begins the next one, and has the gate forget those before it. No clock is
 * involved.
 */
final class Mirror {

  private static final Logger log = LoggerFactory.getLogger(Mirror.class);

  private final Gate gate;
  private final CounterStore truth;
  private final GateOptions options;
  private final Threads threads;
  private final LongSupplier nanos;
  private final RandomGenerator random;

  Mirror(
      Gate gate,
      CounterStore truth,
      GateOptions options,
      Threads threads,
      LongSupplier nanos,
      RandomGenerator random) {
    this.gate = gate;
    this.truth = truth;
    this.options = options;
    this.threads = threads;
    this.nanos = nanos;
    this.random = random;
  }

  /** The stock is in use: sees to it that gate and truth agree. */
  void watch(Stock stock) {
    if (stock.use(nanos.getAsLong())) {
      passLater(stock);
    }
  }

  private void passLater(Stock stock) {
    double jitter = 0.8 + 0.2 * random.nextDouble();
    threads.inBackgroundAfter((long) (options.settle().toNanos() * jitter), () -> pass(stock));
  }

  /** What the truth refuses to tell is asked for again when the counter is used next. */
  private void pass(Stock stock) {
    boolean again = stock.takeUsed();
    try {
      again |= settle(stock);
    } catch (RuntimeException | Error e) {
      log.debug("counter '{}' could not be compared", stock.counter, e);
      again |= !(e instanceof StoreException) || e instanceof StoreUnavailableException;
    }
    if (again || !stock.endWatch()) {
      passLater(stock);
    }
  }

  /** As {@link #settle}; what fails is made good by the next round. */
  void settleQuietly(Stock stock) {
    try {
      settle(stock);
    } catch (RuntimeException e) {
      log.debug("counter '{}' could not be compared", stock.counter, e);
    }
  }

  /**
   * Makes the gate equal to the truth, in two to eight trips. Answers whether it was not, or may
   * not be now.
   */
  boolean settle(Stock stock) {
    if (gate.isAway()) {
      return false; // when it is back, all counters in use are compared
    }
    boolean differed = compare(stock);
    if (differed) {
      compare(stock); // a restock in the middle may have been overwritten by what was before it
    }
    forget(stock);
    return differed;
  }

  /**
   * The gate is read first: whatever is written to it from then on makes the exchange fail, unless
   * it is what was there before. Answers whether they differed, and the gate took what was written:
   * where it has a lock of that name, it never does. A counter that was never changed gets no copy,
   * which would stay for ever.
   */
  private boolean compare(Stock stock) {
    Optional<CounterView> mirrored =
        gate.ask(CounterStore.class, counters -> counters.read(stock.counter));
    int raises = stock.raises();
    Optional<CounterView> known = join(truth.read(stock.counter));
    CounterView view = known.orElse(CounterView.unknown(stock.counter));
    stock.seen(view, raises, nanos.getAsLong());
    if (mirrored == null || (mirrored.isEmpty() && known.isEmpty())) {
      return false;
    }
    CounterView there = mirrored.orElse(CounterView.unknown(stock.counter));
    stock.inGeneration(there.keptFromMillis());
    if (there.floor() != view.floor()) {
      return write(stock, new Operation.SetBounds(-Amounts.MAX, Amounts.MAX))
          | write(stock, new Operation.SetTo(view.value()))
          | write(stock, new Operation.SetBounds(view.floor(), Amounts.MAX));
    }
    return (mirrored.isEmpty() || there.value() != view.value())
        && write(stock, new Operation.CompareAndSet(there.value(), view.value()));
  }

  /** The truth has just said that the counter stands at {@code value}. */
  void publish(Stock stock, long value) {
    write(stock, new Operation.SetTo(value));
  }

  /** The truth has just said that the counter has risen, now or long ago. */
  void publishLatest(Stock stock) {
    if (gate.isAway()) {
      return;
    }
    try {
      join(truth.read(stock.counter)).ifPresent(view -> publish(stock, view.value()));
    } catch (RuntimeException e) {
      log.debug("counter '{}' could not be read", stock.counter, e);
    }
  }

  /**
   * Once more where another client has begun a generation in the meantime. Answers whether the gate
   * heard of it.
   */
  private boolean write(Stock stock, Operation operation) {
    for (int tries = 0; tries < 2; tries++) {
      String id = UUID.randomUUID().toString();
      CounterRequest request =
          CounterRequest.of(stock.counter, id, stock.generation(), operation, false);
      stock.wrote();
      CounterAnswer answer = gate.ask(CounterStore.class, counters -> counters.apply(request));
      if (!(answer instanceof CounterAnswer.TooOld old)) {
        return answer != null;
      }
      stock.inGeneration(old.keptFromMillis());
    }
    return true;
  }

  private void forget(Stock stock) {
    if (stock.takeWrote()) {
      long next = stock.generation() + 1;
      Instant before = Instant.ofEpochMilli(next);
      gate.ask(CounterStore.class, counters -> counters.prune(stock.counter, before));
      stock.inGeneration(next);
    }
  }

  static <T> T join(CompletionStage<T> answer) {
    try {
      return Uninterruptibly.join(answer.toCompletableFuture());
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
