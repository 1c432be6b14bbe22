package io.pawl.options;

import io.pawl.spi.DurationText;
import io.pawl.spi.Maintainable;
import java.time.Duration;

/**
 * What a client lets its store forget, so that nobody has to see to it: about once an hour, in
 * small steps, and by one client of a store at a time, which holds the lock {@link #LOCK}
 * meanwhile. Immutable; each method returns a changed copy.
 *
 * @param ledgers operations of counters are forgotten when their ids were first used longer ago
 *     than this by the client's clock, 1 hour to 100 years, as {@code CounterLedger.prune} does it;
 *     zero: never. An id without a time that comes back later is applied again: choose a time that
 *     is longer than anybody retries, and much longer than the clocks of clients differ
 * @param idleLocks locks are forgotten when nobody has used them for this long, 1 hour to 100
 *     years, as {@code Maintenance.purge} does it where the store remembers locks for ever; zero:
 *     never
 */
public record Retention(Duration ledgers, Duration idleLocks) {

  /** Nothing is forgotten. */
  public static final Retention NONE = new Retention(Duration.ZERO, Duration.ZERO);

  /** The lock of whoever is at it. */
  public static final String LOCK = "pawl:retention";

  public Retention {
    checkOrNever("retention of ledgers", ledgers);
    checkOrNever("retention of idle locks", idleLocks);
  }

  private static void checkOrNever(String what, Duration time) {
    if (!time.isZero()) {
      check(what, time);
    }
  }

  /**
   * Returns {@code time}.
   *
   * @throws IllegalArgumentException outside 1 hour, in which a message may still arrive, to 100
   *     years
   */
  public static Duration check(String what, Duration time) {
    if (time.compareTo(Maintainable.SHORTEST_IDLE) < 0
        || time.compareTo(DurationText.LONGEST) > 0) {
      throw new IllegalArgumentException(
          what + ": " + time + " is not between 1 hour and 100 years");
    }
    return time;
  }

  public Retention ledgers(Duration longest) {
    return new Retention(longest, idleLocks);
  }

  public Retention idleLocks(Duration longest) {
    return new Retention(ledgers, longest);
  }
}
