package io.pawl.composite;

import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Holder;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

/** Claims, and what is in a store. */
final class Seam {

  private static final AtomicLong numbers = new AtomicLong();

  private Seam() {}

  static Claim claim(String lock) {
    return claim(lock, Duration.ofSeconds(30), true);
  }

  static Claim claim(String lock, Duration lease) {
    return claim(lock, lease, true);
  }

  /** One that does not queue. */
  static Claim impatient(String lock) {
    return claim(lock, Duration.ofSeconds(30), false);
  }

  private static Claim claim(String lock, Duration lease, boolean queues) {
    return new Claim(
        lock,
        new ClaimId("seam", numbers.incrementAndGet()),
        Mode.EXCLUSIVE,
        lease,
        Duration.ZERO,
        queues,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  static <T> T answer(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  /** The counter's value; -1 where the store has never heard of it. */
  static long value(CounterStore store, String counter) {
    return answer(store.read(counter)).map(CounterView::value).orElse(-1L);
  }

  /** Sets the value straight at the store. */
  static void set(io.pawl.spi.LockStore store, String counter, long value) {
    try (Pawl direct = Pawl.over(store)) {
      direct.counter(counter).update(Update.set(value));
    }
  }

  /** What the ledger says was changed. */
  static long ledger(CounterStore store, String counter) {
    return answer(store.history(counter, Integer.MAX_VALUE)).stream()
        .mapToLong(LedgerEntry::change)
        .sum();
  }
}
