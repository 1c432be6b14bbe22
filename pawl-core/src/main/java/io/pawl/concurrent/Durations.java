package io.pawl.concurrent;

import java.time.Duration;

/** Durations as nanoseconds on a monotonic clock. */
public final class Durations {

  /** 100 years: what "for ever" is clamped to, so that deadlines cannot overflow. */
  public static final Duration LONGEST = Duration.ofDays(36_525);

  private Durations() {}

  /** Nanoseconds, at most {@link #LONGEST}. */
  public static long nanos(Duration duration) {
    return duration.compareTo(LONGEST) > 0 ? LONGEST.toNanos() : duration.toNanos();
  }

  /**
   * A wait as nanoseconds, at most {@link #LONGEST}.
   *
   * @throws IllegalArgumentException for a negative one
   */
  public static long waitNanos(Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException("wait: " + wait + " is negative; 0 does not wait");
    }
    return nanos(wait);
  }

  /**
   * The time that a reservation lasts, in milliseconds, at most {@link #LONGEST}.
   *
   * @throws IllegalArgumentException for less than 1 ms
   */
  public static long ttlMillis(Duration ttl) {
    if (ttl.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("ttl: " + ttl + " is shorter than 1 ms");
    }
    return (ttl.compareTo(LONGEST) > 0 ? LONGEST : ttl).toMillis();
  }
}
