package io.pawl.spi;

import java.time.Duration;

/**
 * One holder's single-use request for a lock, waiting or held. Immutable; the store keeps its
 * {@link Standing}.
 *
 * @param lock the lock's name, checked by {@link LockName}
 * @param id the claim's own identity
 * @param mode how the claim excludes others
 * @param lease how long the store keeps the claim, held or waiting, without hearing from it: {@link
 *     #MIN_LEASE} to {@link #MAX_LEASE}, whole milliseconds
 * @param minHold how long the lock stays busy at least from the grant on, even if the claim is
 *     withdrawn sooner or its client dies: zero to {@link #MAX_LEASE}
 * @param queues whether the claim takes a place in the queue when the lock is busy; otherwise the
 *     answer is {@link Standing.Gone}
 * @param tokens how many fencing tokens the claim asks for, 1 to {@link Tokens#MAX_PER_CLAIM}; a
 *     store may grant fewer, at least 1
 * @param tokenFloor every token granted to the claim is larger than this; 0 if nothing is known
 * @param unsettled an attempt of this claim was sent and never answered, so that it may still reach
 *     the store: its withdrawal must be remembered
 * @param holder who made the claim, for people
 */
public record Claim(
    String lock,
    ClaimId id,
    Mode mode,
    Duration lease,
    Duration minHold,
    boolean queues,
    int tokens,
    long tokenFloor,
    boolean unsettled,
    Holder holder) {

  /** The shortest lease, 100 ms. */
  public static final Duration MIN_LEASE = Duration.ofMillis(100);

  /** The longest lease, 7 days. */
  public static final Duration MAX_LEASE = Duration.ofDays(7);

  /** Of a longer lease, 20 s, half is enough for a waiter that asks every 2 s. */
  public static final long LONG_LEASE_MILLIS = 20_000;

  public Claim {
    LockName.check(lock);
    checkLease(lease);
    checkMinHold(minHold);
    if (tokens < 1 || tokens > Tokens.MAX_PER_CLAIM) {
      throw new IllegalArgumentException(
          "tokens of a claim: " + tokens + " is not between 1 and " + Tokens.MAX_PER_CLAIM);
    }
    if (tokenFloor < 0 || tokenFloor > Tokens.MAX) {
      throw new IllegalArgumentException(
          "token floor of a claim: " + tokenFloor + " is not between 0 and 2^53 - 1");
    }
  }

  /**
   * Returns {@code lease}.
   *
   * @throws IllegalArgumentException outside {@link #MIN_LEASE} to {@link #MAX_LEASE}
   */
  public static Duration checkLease(Duration lease) {
    if (lease.compareTo(MIN_LEASE) < 0 || lease.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "lease: " + lease + " is not between 100 ms and 7 days; renewal keeps a short one alive");
    }
    return lease;
  }

  /**
   * For how long at least the answer {@link Standing.Waiting} keeps a claim, from the moment at
   * which the question was sent: its lease, or half of one that is longer than {@link
   * #LONG_LEASE_MILLIS}, so that the store need not write whenever a waiter asks.
   */
  public static long keptWaitingMillis(long leaseMillis) {
    return leaseMillis > LONG_LEASE_MILLIS ? leaseMillis / 2 : leaseMillis;
  }

  /**
   * Returns {@code minHold}.
   *
   * @throws IllegalArgumentException if it is negative or longer than {@link #MAX_LEASE}
   */
  public static Duration checkMinHold(Duration minHold) {
    if (minHold.isNegative() || minHold.compareTo(MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "shortest hold: " + minHold + " is not between 0 and 7 days");
    }
    return minHold;
  }

  public long leaseMillis() {
    return lease.toMillis();
  }

  /** Returns {@link #minHold} in whole milliseconds, rounded up. */
  public long minHoldMillis() {
    return minHold.plusNanos(999_999).toMillis();
  }

  /** Returns the same claim in another mode, without queueing: for a downgrade. */
  public Claim as(Mode other) {
    return new Claim(lock, id, other, lease, minHold, false, tokens, tokenFloor, unsettled, holder);
  }

  /** Returns the same claim with another shortest hold. */
  public Claim withMinHold(Duration shortest) {
    return shortest.equals(minHold)
        ? this
        : new Claim(lock, id, mode, lease, shortest, queues, tokens, tokenFloor, unsettled, holder);
  }

  /** Returns the same claim, marked {@link #unsettled}. */
  public Claim asUnsettled() {
    return unsettled
        ? this
        : new Claim(lock, id, mode, lease, minHold, queues, tokens, tokenFloor, true, holder);
  }
}
