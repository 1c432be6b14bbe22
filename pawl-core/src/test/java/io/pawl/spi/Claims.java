package io.pawl.spi;

import java.time.Duration;

/** Claims to test with. */
public final class Claims {

  public static final Holder SOMEONE = new Holder("host", 1, "thread", "", "");

  private Claims() {}

  public static Claim exclusive(long number) {
    return of(number, Mode.EXCLUSIVE);
  }

  /** Queues, with a lease of one second and one token; every fifth is of another client. */
  public static Claim of(long number, Mode mode) {
    return of(number, mode, 1_000, true, 1, 0);
  }

  public static Claim of(
      long number, Mode mode, long leaseMillis, boolean queues, int tokens, long tokenFloor) {
    Duration lease = Duration.ofMillis(leaseMillis);
    ClaimId id = new ClaimId(number % 5 == 0 ? "other" : "client", number);
    return new Claim(
        "lock", id, mode, lease, Duration.ZERO, queues, tokens, tokenFloor, false, SOMEONE);
  }
}
