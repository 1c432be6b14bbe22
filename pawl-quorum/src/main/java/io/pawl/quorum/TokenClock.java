package io.pawl.quorum;

import io.pawl.concurrent.Time;
import io.pawl.spi.Tokens;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/**
 * Guesses a floor above which all nodes grant the same tokens at their first answer. Nodes on Redis
 * take tokens from their clocks, two a microsecond, and so each another one; what this client has
 * seen of such tokens tells where the latest of these clocks is. A wrong guess costs one trip.
 */
final class TokenClock {

  private static final long PER_MICROSECOND = 2;
  private static final long DAY = 86_400_000_000L * PER_MICROSECOND;

  private static final long TEN_SECONDS = 10_000_000 * PER_MICROSECOND;

  /** How far ahead of the latest clock at least: 50 ms. */
  private static final long LEAD = 50_000 * PER_MICROSECOND;

  private static final int MOST_DOUBLINGS = 4;

  private static final long UNKNOWN = Long.MIN_VALUE;

  private final Time time;
  private final RandomGenerator random;

  /** What the latest clock is ahead of ours, in tokens. */
  private final AtomicLong ahead = new AtomicLong(UNKNOWN);

  /** How far ahead of it floors are: beyond those that messages were too late for. */
  private volatile long lead = LEAD;

  TokenClock(Time time, RandomGenerator random) {
    this.time = time;
    this.random = random;
  }

  /** Returns a floor for a claim; 0 where no node has shown yet that it follows a clock. */
  long floor() {
    return floor(lead);
  }

  private long floor(long lead) {
    long known = ahead.get();
    long latest = known == UNKNOWN ? 0 : known + ours();
    return latest > 0 && followsClock(latest) ? latest + lead : 0;
  }

  /**
   * Returns the floor above which other nodes may grant the same tokens as one that has granted
   * some, of which the first is {@code token}.
   */
  long beside(long token) {
    long now = lead;
    long floor = floor(now);
    return floor - now < token ? token - 1 : floor;
  }

  /** Returns what the node that told of a token {@code nanos} ago would tell now. */
  long later(long token, long nanos) {
    return followsClock(token) ? token + nanos / 1_000 * PER_MICROSECOND : token;
  }

  /**
   * Returns the floor above which nodes that granted different tokens may grant the same ones. It
   * is another one for each client: readers who ask the same nodes above the same floor, in another
   * order, would chase each other. Whoever asks above the others is granted the same everywhere.
   *
   * @param largest of the tokens granted, as of now
   * @param failures how often such a floor was in vain
   */
  long above(long largest, int failures) {
    boolean follows = followsClock(largest);
    if (follows) {
      lead = Math.max(lead, LEAD << Math.min(failures, MOST_DOUBLINGS));
      boolean usable = floor() > 0; // else it has come so far ahead that no floor is given
      ahead.accumulateAndGet(largest - ours(), (old, now) -> usable ? Math.max(old, now) : now);
    }
    long more = follows ? LEAD << Math.min(failures, 8) : failures * LEAD;
    more += random.nextLong(1 + Math.min(failures, 256) * LEAD);
    return Math.min(Tokens.MAX - Tokens.MAX_PER_CLAIM, largest + more);
  }

  /**
   * Others are counted one by one, follow a caller's floor, or lead so far already that no clock
   * comes near.
   */
  private boolean followsClock(long token) {
    long lead = token - time.wallMillis() * 1_000 * PER_MICROSECOND;
    return lead > -DAY && lead < TEN_SECONDS;
  }

  private long ours() {
    return time.nanos() / 1_000 * PER_MICROSECOND;
  }
}
