package io.pawl.composite;

import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes claims out of the gate, and remembers those of which the gate has not heard yet. One that
 * has run out there meanwhile is told all the same, once, since the gate's client may note it as
 * one that waits, for ever. A claim whose key fails at the gate has been heard of: it runs out
 * there.
 */
final class OwedWithdrawals {

  /** How many are remembered; others run out there. */
  private static final int MOST = 10_000;

  private static final long PAUSE_NANOS = 1_000_000_000L;
  private static final long LEAST_KEPT_NANOS = 60_000_000_000L;

  /**
   * A claim of which the gate has not heard.
   *
   * @param untilNanos until when it may be there, or a late attempt of it may come
   */
  private record Debt(Claim claim, long untilNanos) {

    boolean isOver(long nowNanos) {
      return untilNanos - nowNanos <= 0;
    }
  }

  private final Gate gate;
  private final Threads threads;
  private final LongSupplier nanos;
  private final ConcurrentLinkedQueue<Debt> owed = new ConcurrentLinkedQueue<>();
  private final AtomicInteger owing = new AtomicInteger();

  /** Whether a payment is planned or under way: one at a time, for all debts. */
  private final AtomicBoolean paying = new AtomicBoolean();

  OwedWithdrawals(Gate gate, Threads threads, LongSupplier nanos) {
    this.gate = gate;
    this.threads = threads;
    this.nanos = nanos;
  }

  /** Tells the gate, now or when it is back. */
  void withdraw(Claim claim) {
    withdraw(claim, debtOf(claim));
  }

  private Debt debtOf(Claim claim) {
    long kept = Math.max(LEAST_KEPT_NANOS, claim.lease().toNanos());
    return new Debt(claim, nanos.getAsLong() + kept);
  }

  /** As {@link #withdraw(Claim)}, of a claim that has run out there by now. */
  void forget(Claim claim) {
    withdraw(claim, new Debt(claim, nanos.getAsLong()));
  }

  private void withdraw(Claim asTold, Debt debt) {
    AtomicBoolean told = new AtomicBoolean();
    boolean heard =
        gate.hears(
            store -> {
              told.set(true);
              return withdrawalOf(asTold).apply(store);
            });
    if (!heard && isOwed(debt, told.get())) {
      add(debt);
      if (!gate.isAway()) {
        payLater(); // it came back in between
      }
    }
  }

  /** As {@link #withdraw(Claim)}, but the gate is not told now. */
  void owe(Claim claim) {
    add(debtOf(claim));
  }

  private void add(Debt debt) {
    owing.incrementAndGet();
    owed.add(debt);
  }

  /**
   * The gate's client forgets a claim as it is told. To tell of one that is over again, where its
   * key alone does not answer, would leave out the gate for ever.
   */
  private boolean isOwed(Debt debt, boolean told) {
    boolean mattersStill = !told || !debt.isOver(nanos.getAsLong());
    return mattersStill && owing.get() < MOST;
  }

  private void payLater() {
    if (paying.compareAndSet(false, true)) {
      threads.after(PAUSE_NANOS, this::payAsPlanned);
    }
  }

  private void payAsPlanned() {
    try {
      pay();
    } finally {
      paying.set(false);
      if (areSome() && !gate.isAway()) {
        payLater();
      }
    }
  }

  /** The gate answers again: tells it what it has missed. */
  void pay() {
    for (int left = owing.get(); left > 0 && !gate.isAway(); left--) {
      Debt debt = next();
      if (debt != null) {
        withdraw(asTold(debt), debt);
      }
    }
  }

  boolean areSome() {
    return !owed.isEmpty();
  }

  /**
   * The store closes: nobody will tell the gate later, so it is told now, even where it was left
   * out. Waits for its patience at most, in all.
   */
  void payLast() {
    List<Function<LockStore, CompletionStage<Boolean>>> last = new ArrayList<>();
    for (int left = owing.get(); left > 0; left--) {
      Debt debt = next();
      if (debt != null) {
        last.add(withdrawalOf(asTold(debt)));
      }
    }
    if (!last.isEmpty()) {
      gate.askAnyway(last);
    }
  }

  private @Nullable Debt next() {
    Debt debt = owed.poll();
    if (debt != null) {
      owing.decrementAndGet();
    }
    return debt;
  }

  /** What is over is of no more use to the gate than to be forgotten. */
  private Claim asTold(Debt debt) {
    return debt.isOver(nanos.getAsLong()) ? debt.claim : debt.claim.asUnsettled();
  }

  private static Function<LockStore, CompletionStage<Boolean>> withdrawalOf(Claim claim) {
    return store -> store.withdraw(claim).thenApply(nothing -> true);
  }
}
