package io.pawl.options;

import io.pawl.spi.Claim;
import io.pawl.spi.Tokens;
import java.time.Duration;
import java.util.Objects;

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
 * @param sticky how long the store's hold outlives a release that leaves it with nobody, for this
 *     client's next acquisition: 0 to 1 s
 * @param backgroundRelease whether {@code close()} of a lease returns before the store knows
 * @param note text that others see as part of the holder, may be empty
 */
public record LockOptions(
    Duration lease,
    boolean renewal,
    int maxPasses,
    Duration maxRun,
    Duration minHold,
    Duration sticky,
    boolean backgroundRelease,
    String note) {

  private static final Duration LONGEST_STICKY = Duration.ofSeconds(1);

  private static final LockOptions DEFAULTS =
      new LockOptions(
          Duration.ofSeconds(30),
          true,
          Tokens.MAX_PER_CLAIM - 1,
          Duration.ofMillis(20),
          Duration.ZERO,
          Duration.ZERO,
          false,
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
    if (sticky.isNegative() || sticky.compareTo(LONGEST_STICKY) > 0) {
      throw new IllegalArgumentException("sticky: " + sticky + " is not between 0 and 1 s");
    }
    if (!sticky.isZero() && (maxPasses == 0 || !renewal || !minHold.isZero())) {
      throw new IllegalArgumentException(
          "sticky: "
              + sticky
              + " needs local passing; leave it out with strict order (jobs and elections have it),"
              + " a shortest hold, or a lease without renewal");
    }
    Objects.requireNonNull(note, "note");
  }

  /**
   * Returns the defaults: a lease of 30 s, renewed every third of it, with local passing for up to
   * 20 ms a run.
   */
  public static LockOptions defaults() {
    return DEFAULTS;
  }

  public LockOptions lease(Duration length) {
    return new LockOptions(
        length, renewal, maxPasses, maxRun, minHold, sticky, backgroundRelease, note);
  }

  public LockOptions renewal(boolean renew) {
    return new LockOptions(
        lease, renew, maxPasses, maxRun, minHold, sticky, backgroundRelease, note);
  }

  /**
   * Returns a copy with strict order: first come, first served across all clients; no local
   * passing. Requests of one client that stand behind each other lose their places when the hold
   * that they share is lost, or downgraded.
   */
  public LockOptions strictOrder() {
    return new LockOptions(
        lease, renewal, 0, Duration.ZERO, minHold, sticky, backgroundRelease, note);
  }

  /** Returns a copy with local passing within these bounds. */
  public LockOptions localPassing(int passes, Duration run) {
    return new LockOptions(lease, renewal, passes, run, minHold, sticky, backgroundRelease, note);
  }

  /** Returns a copy under which the lock stays busy for at least so long after each grant. */
  public LockOptions minHold(Duration shortest) {
    return new LockOptions(
        lease, renewal, maxPasses, maxRun, shortest, sticky, backgroundRelease, note);
  }

  /**
   * Returns a copy that keeps the store's hold for so long after a release, for this client's next
   * acquisition, which then asks no store. This is for work that comes back to the same process:
   * partitions, shards, queues of one customer. It is wrong for locks that processes take in turns:
   * each of them waits for the others' time.
   *
   * <p>The time runs from the first release that finds nobody of this client waiting. It ends with
   * it, or with the lease that is held then: whoever waits elsewhere waits at most that much
   * longer, however often this client comes back. Until then {@code tryAcquire} of others finds the
   * lock busy, requests of this client with other options too, and an inspection shows the thread
   * that had it first as the holder. Closing the client gives it back at once. A process that dies
   * delays others by its lease, as ever.
   *
   * <p>Not for strict order, shortest holds, leases without renewal, read-write locks, semaphores
   * and groups, which refuse it.
   *
   * @param length 0 (the default) to 1 s
   */
  public LockOptions sticky(Duration length) {
    return new LockOptions(
        lease, renewal, maxPasses, maxRun, minHold, length, backgroundRelease, note);
  }

  /**
   * Returns a copy under which {@code close()} of a lease does not wait for the store. The lease
   * has ended when it returns, and what this client asks for next comes after the release. Others
   * may find the lock busy for a moment. A release that fails is tried again until the lock has run
   * out at the store; {@link LockObserver#storeFailed} is told, and {@code close()} is not. Closing
   * the client waits for releases that are under way.
   */
  public LockOptions releaseInBackground() {
    return new LockOptions(lease, renewal, maxPasses, maxRun, minHold, sticky, true, note);
  }

  public LockOptions note(String text) {
    return new LockOptions(
        lease, renewal, maxPasses, maxRun, minHold, sticky, backgroundRelease, text);
  }

  public boolean passes() {
    return maxPasses > 0 && sharesHolds();
  }

  /** Returns whether several leases may follow one another under one hold at the store. */
  public boolean sharesHolds() {
    return renewal && minHold.isZero();
  }
}
