package io.pawl.sql.lock;

import org.jspecify.annotations.Nullable;

/**
 * Where a claim stands in the queue, as far as its client knows, and how soon to look again: after
 * a tenth of the time since the queue last moved, so that looking adds a tenth to a wait at most;
 * at first after 1 ms for whoever is next, and where a look is a trip after 1 ms more for each who
 * stands before, up to 5 ms; after 500 ms at last, or 1 s for those who have others before them.
 */
final class QueuePlace {

  static final long LONGEST_PAUSE_NANOS = 500_000_000;

  /** How many of the others in the queue make it wait longer before the first look. */
  private static final int MOST_COUNTED = 4;

  private boolean entered;
  private int ahead;
  private long movedAtNanos;

  synchronized void entered(int others, long nowNanos) {
    entered = true;
    ahead = others;
    movedAtNanos = nowNanos;
  }

  synchronized void standsBehind(int others) {
    ahead = others;
  }

  synchronized void movedOn(long nowNanos) {
    ahead = Math.max(0, ahead - 1);
    movedAtNanos = nowNanos;
  }

  /** Whether its client knows that it stands in the queue. */
  synchronized boolean isEntered() {
    return entered;
  }

  /**
   * When to look next.
   *
   * @param lookedAtNanos null where nobody has
   * @param placeNanos how much longer than {@code shortestNanos} for each who stands before
   */
  synchronized long nextLook(@Nullable Long lookedAtNanos, long shortestNanos, long placeNanos) {
    long last = lookedAtNanos == null ? movedAtNanos : Math.max(lookedAtNanos, movedAtNanos);
    long least = shortestNanos + placeNanos * Math.min(ahead, MOST_COUNTED);
    long pause = Math.max(least, (last - movedAtNanos) / 10);
    return last + Math.min(ahead == 0 ? LONGEST_PAUSE_NANOS : 2 * LONGEST_PAUSE_NANOS, pause);
  }
}
