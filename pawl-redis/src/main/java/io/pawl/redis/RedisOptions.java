package io.pawl.redis;

import java.time.Duration;

/**
 * How a {@link RedisStore} talks to its server. Immutable; each method that sets something returns
 * a changed copy.
 *
 * @param timeout how long a request may stay unanswered before it fails with {@link
 *     io.pawl.error.StoreUnavailableException}, 50 ms to 1 minute; every stage of the store
 *     completes within about twice this
 * @param waitReplicas how many replicas must confirm a grant before it is handed out, 0 to 100; 0
 *     asks no replica. A grant that too few replicas confirm is not handed out, and the client asks
 *     again until its patience ends. This makes the loss of a grant at a failover unlikely, not
 *     impossible. It costs two more round trips, the replicas' own, and one more connection
 * @param waitTimeout how long to wait for the replicas, 1 ms to less than {@code timeout}
 * @param keepIds how long a counter remembers the ids of operations at least, 1 minute to 10 years,
 *     by the server's clock; ids are forgotten while the counter is used. The setting of the store
 *     object that makes a change applies, so all clients of a counter should use the same
 */
public record RedisOptions(
    Duration timeout, int waitReplicas, Duration waitTimeout, Duration keepIds) {

  private static final Duration LONGEST = Duration.ofMinutes(1);

  private static final Duration LEAST_KEPT = Duration.ofMinutes(1);
  private static final Duration MOST_KEPT = Duration.ofDays(3652);

  private static final RedisOptions DEFAULTS =
      new RedisOptions(Duration.ofSeconds(2), 0, Duration.ofMillis(500), Duration.ofDays(1));

  public RedisOptions {
    if (timeout.compareTo(Duration.ofMillis(50)) < 0 || timeout.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "timeout: " + timeout + " is not between 50 ms and 1 minute");
    }
    if (waitReplicas < 0 || waitReplicas > 100) {
      throw new IllegalArgumentException(
          "replicas to wait for: " + waitReplicas + " is not between 0 and 100");
    }
    if (waitTimeout.compareTo(Duration.ofMillis(1)) < 0 || waitTimeout.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "timeout of the wait for replicas: " + waitTimeout + " is not between 1 ms and 1 minute");
    }
    if (waitReplicas > 0 && waitTimeout.compareTo(timeout) >= 0) {
      throw new IllegalArgumentException(
          "timeout of the wait for replicas: "
              + waitTimeout
              + " is not shorter than that of a request, "
              + timeout);
    }
    if (keepIds.compareTo(LEAST_KEPT) < 0 || keepIds.compareTo(MOST_KEPT) > 0) {
      throw new IllegalArgumentException(
          "time to keep ids: " + keepIds + " is not between 1 minute and 10 years");
    }
  }

  /** Returns the defaults: a timeout of 2 s, no wait for replicas, and ids kept for a day. */
  public static RedisOptions defaults() {
    return DEFAULTS;
  }

  public RedisOptions timeout(Duration longest) {
    return new RedisOptions(longest, waitReplicas, waitTimeout, keepIds);
  }

  public RedisOptions waitReplicas(int replicas, Duration longest) {
    return new RedisOptions(timeout, replicas, longest, keepIds);
  }

  public RedisOptions keepIds(Duration time) {
    return new RedisOptions(timeout, waitReplicas, waitTimeout, time);
  }
}
