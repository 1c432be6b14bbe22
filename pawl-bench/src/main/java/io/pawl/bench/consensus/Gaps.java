package io.pawl.bench.consensus;

import java.util.Arrays;

/** The longest times without a grant, for any client and for one. Thread-safe. */
final class Gaps {

  private final long[] lastOfEach;
  private long last;
  private long longest;
  private long longestOfOne;
  private long failures;

  /** Counting begins at {@code now}, by {@link System#nanoTime}. */
  Gaps(int clients, long now) {
    lastOfEach = new long[clients];
    begin(now);
  }

  /** Forgets what was before. */
  synchronized void begin(long now) {
    Arrays.fill(lastOfEach, now);
    last = now;
    longest = 0;
    longestOfOne = 0;
    failures = 0;
  }

  synchronized void granted(int client, long now) {
    longest = Math.max(longest, now - last);
    longestOfOne = Math.max(longestOfOne, now - lastOfEach[client]);
    last = now;
    lastOfEach[client] = now;
  }

  synchronized void failed() {
    failures++;
  }

  /** Those that are still open count as well. */
  synchronized String told(long now) {
    long any = Math.max(longest, now - last);
    long one = longestOfOne;
    for (long each : lastOfEach) {
      one = Math.max(one, now - each);
    }
    return any / 1e6 + " " + one / 1e6 + " " + failures;
  }
}
