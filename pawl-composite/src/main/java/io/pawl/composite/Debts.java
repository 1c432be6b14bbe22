package io.pawl.composite;

import io.pawl.spi.Claim;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** Takes claims out of the gate, and remembers those of which the gate has not heard yet. */
final class Debts {

  /** How many are remembered; others run out there. */
  private static final int MOST = 10_000;

  private static final long PAUSE_NANOS = 1_000_000_000L;

  private final Gate gate;
  private final Threads threads;
  private final ConcurrentLinkedQueue<Claim> owed = new ConcurrentLinkedQueue<>();
  private final AtomicInteger owing = new AtomicInteger();

  Debts(Gate gate, Threads threads) {
    this.gate = gate;
    this.threads = threads;
  }

  /** Tells the gate, now or when it is back. */
  void withdraw(Claim claim) {
    Boolean done = gate.ask(store -> store.withdraw(claim).thenApply(nothing -> true));
    if (done == null && owing.get() < MOST) {
      owing.incrementAndGet();
      owed.add(claim.asUnsettled());
      if (!gate.isAway()) {
        threads.after(PAUSE_NANOS, this::pay); // it came back in between
      }
    }
  }

  /** The gate answers again: tells it what it has missed. */
  void pay() {
    for (int left = owing.get(); left > 0 && !gate.isAway(); left--) {
      Claim claim = owed.poll();
      if (claim != null) {
        owing.decrementAndGet();
        withdraw(claim);
      }
    }
  }
}
