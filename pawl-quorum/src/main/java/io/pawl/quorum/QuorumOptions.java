package io.pawl.quorum;

import java.time.Duration;

/**
 * How a {@link QuorumStore} treats its nodes. Immutable; each method that sets something returns a
 * changed copy.
 *
 * @param longestLease the longest lease and shortest hold that are accepted, 1 s to 1 day; as long
 *     does a node stay out that may have forgotten what it granted. The same for all clients
 * @param nodeTimeout how long a majority is waited for, or half a lease where that is shorter, 50
 *     ms to 10 s
 */
public record QuorumOptions(Duration longestLease, Duration nodeTimeout) {

  private static final QuorumOptions DEFAULTS =
      new QuorumOptions(Duration.ofSeconds(60), Duration.ofMillis(500));

  public QuorumOptions {
    check("longestLease", longestLease, Duration.ofSeconds(1), Duration.ofDays(1));
    check("nodeTimeout", nodeTimeout, Duration.ofMillis(50), Duration.ofSeconds(10));
  }

  private static void check(String what, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          what + ": " + value + " is not between " + least + " and " + most);
    }
  }

  /** Returns the defaults: leases of up to 60 s, nodes are waited for up to 500 ms. */
  public static QuorumOptions defaults() {
    return DEFAULTS;
  }

  /** An answer that takes no longer is prompt, in ns: a tenth of what a majority is waited for. */
  long promptNanos() {
    return nodeTimeout.toNanos() / 10;
  }

  public QuorumOptions longestLease(Duration longest) {
    return new QuorumOptions(longest, nodeTimeout);
  }

  public QuorumOptions nodeTimeout(Duration timeout) {
    return new QuorumOptions(longestLease, timeout);
  }
}
