package io.pawl.options;

import io.pawl.spi.Claim;
import io.pawl.spi.Tokens;
import java.time.Duration;

/**
 * How a lock is held and handed on. Immutable; each method that sets something returns a changed
 * copy.
 *
 * <p><b>Local passing</b> (the default): the threads of one client stand in a queue of their own,
 * and only its head asks the store. A release may pass the hold to another of these threads without
 * a trip to the store, each time with a larger token, for at most {@link #maxPasses} passes and
 * {@link #maxRun}. Within such a run a thread that is already running may overtake sleeping ones
 * for up to half a millisecond.
 *
 * <p><b>Strict order</b>: every request stands in the store's queue by itself, first come, first
 * served across all clients. Requests of one client that stand directly behind each other are
 * served under one hold without a trip each, with growing tokens; the first of them shows as the
 * holder meanwhile.
 *
 * @param lease how long the store keeps the lock for a holder that it does not hear from, 100 ms to
 *     7 days
 * @param renewal whether the lease is renewed while it is held; without renewal it ends after
 *     {@code lease} and is never passed on
 * @param maxPasses how often threads of one client may pass the lock on in a run, 0 (strict order)
 *     to 65,535
 * @param maxRun how long threads of one client may pass the lock among themselves while others may
 *     be waiting, up to 1 s
 * @param minHold how long the lock stays busy at least after each grant, even if it is released
 *     sooner, its client is closed, or its process ends: 0 to 7 days. The store keeps this time;
 *     the lease keeps its own length, and there is no local passing
 * @param note text that others see as part of the holder, may be empty
 */
public record LockOptions(
    Duration lease,
    boolean renewal,
    int maxPasses,
    Duration maxRun,
    Duration minHold,
    String note) {

  private static final LockOptions DEFAULTS =
      new LockOptions(
          Duration.ofSeconds(30),
          true,
          Tokens.MAX_PER_CLAIM - 1,
          Duration.ofMillis(20),
          Duration.ZERO,
          "");

  public LockOptions {
    Claim.checkLease(lease);
    if (maxPasses < 0 || maxPasses >= Tokens.MAX_PER_CLAIM) {
      throw new IllegalArgumentException(
          "passes: " + maxPasses + " is not between 0 and " + (Tokens.MAX_PER_CLAIM - 1));
    }
    if (maxRun.isNegative() || maxRun.compareTo(Duration.ofSeconds(1)) > 0) {
      throw new IllegalArgumentException("longest run: " + maxRun + " is not between 0 and 1 s");
    }
    Claim.checkMinHold(minHold);
  }

  /**
   * Returns the defaults: a lease of 30 s, renewed every third of it, with local passing for up to
   * 20 ms a run.
   */
  public static LockOptions defaults() {
    return DEFAULTS;
  }

  public LockOptions lease(Duration length) {
    return new LockOptions(length, renewal, maxPasses, maxRun, minHold, note);
  }

  public LockOptions renewal(boolean renew) {
    return new LockOptions(lease, renew, maxPasses, maxRun, minHold, note);
  }

  /**
   * Returns a copy with strict order: first come, first served across all clients; no local
   * passing.
   */
  public LockOptions strictOrder() {
    return new LockOptions(lease, renewal, 0, Duration.ZERO, minHold, note);
  }

  /** Returns a copy with local passing within these bounds. */
  public LockOptions localPassing(int passes, Duration run) {
    return new LockOptions(lease, renewal, passes, run, minHold, note);
  }

  /** Returns a copy under which the lock stays busy for at least so long after each grant. */
  public LockOptions minHold(Duration shortest) {
    return new LockOptions(lease, renewal, maxPasses, maxRun, shortest, note);
  }

  public LockOptions note(String text) {
    return new LockOptions(lease, renewal, maxPasses, maxRun, minHold, text);
  }

  public boolean passes() {
    return maxPasses > 0 && sharesHolds();
  }

  /** Returns whether several leases may follow one another under one hold at the store. */
  public boolean sharesHolds() {
    return renewal && minHold.isZero();
  }
}
