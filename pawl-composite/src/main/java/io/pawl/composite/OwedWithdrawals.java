package io.pawl.composite;

import io.pawl.spi.Claim;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

/**
 * Takes claims out of the gate, and remembers those of which the gate has not heard yet, until they
 * have run out there and no late attempt of them is under way any more.
 */
final class OwedWithdrawals {

  /** How many are remembered; others run out there. */
  private static final int MOST = 10_000;

  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final long LEAST_KEPT_NANOS = 60_000_000_000L;

  /** A claim of which the gate has not heard, and until when it matters. */
  private record Debt(Claim claim, long untilNanos) {}

  private final Gate gate;
  private final Threads threads;
  private final LongSupplier nanos;
  private final ConcurrentLinkedQueue<Debt> owed = new ConcurrentLinkedQueue<>();
  private final AtomicInteger owing = new AtomicInteger();

  OwedWithdrawals(Gate gate, Threads threads, LongSupplier nanos) {
    this.gate = gate;
    this.threads = threads;
    this.nanos = nanos;
  }

  /** Tells the gate, now or when it is back. */
  void withdraw(Claim claim) {
    long kept = Math.max(LEAST_KEPT_NANOS, claim.lease().toNanos());
    withdraw(new Debt(claim, nanos.getAsLong() + kept));
  }

  private void withdraw(Debt debt) {
    Claim claim = debt.claim;
    Boolean done = gate.ask(store -> store.withdraw(claim).thenApply(nothing -> true));
    if (done == null && owing.get() < MOST) {
      owing.incrementAndGet();
      owed.add(new Debt(claim.asUnsettled(), debt.untilNanos));
      if (!gate.isAway()) {
        threads.after(PAUSE_NANOS, this::pay); // it came back in between
      }
    }
  }

  /** The gate answers again: tells it what it has missed. */
  void pay() {
    for (int left = owing.get(); left > 0 && !gate.isAway(); left--) {
      Debt debt = owed.poll();
      if (debt != null) {
        owing.decrementAndGet();
        if (debt.untilNanos - nanos.getAsLong() > 0) {
          withdraw(debt);
        }
      }
    }
  }
}
