package io.pawl.tck.lock;

import io.pawl.spi.Mode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether what threads saw of one lock could have come from one that does one thing after another:
 * Wing and Gong's search for an order that respects who was over before whom began, with the sets
 * of calls that led nowhere remembered. What a lock or semaphore allows next depends on the set of
 * calls before alone.
 */
final class Linearizability {

  static final int MOST_CALLS = 62;

  /**
   * One call and its answer.
   *
   * @param took true for an acquisition, false for the release of the lease of that token
   * @param began when it was called
   * @param ended when it returned
   */
  record Call(Mode mode, boolean took, long token, long began, long ended) {}

  private final List<Call> calls;
  private final Set<Long> deadEnds = new HashSet<>();

  private Linearizability(List<Call> calls) {
    this.calls = calls;
  }

  /** Whether there is such an order of at most {@link #MOST_CALLS} calls. */
  static boolean explains(List<Call> calls) {
    if (calls.size() > MOST_CALLS) {
      throw new IllegalArgumentException(calls.size() + " calls are too many");
    }
    return new Linearizability(List.copyOf(calls)).canEnd(0);
  }

  private boolean canEnd(long done) {
    if (done == (1L << calls.size()) - 1) {
      return true;
    }
    if (!deadEnds.add(done)) {
      return false;
    }
    long firstEnd = Long.MAX_VALUE;
    for (int i = 0; i < calls.size(); i++) {
      if ((done & 1L << i) == 0) {
        firstEnd = Math.min(firstEnd, calls.get(i).ended);
      }
    }
    for (int i = 0; i < calls.size(); i++) {
      Call call = calls.get(i);
      boolean next = (done & 1L << i) == 0 && call.began <= firstEnd;
      if (next && isAllowed(call, done) && canEnd(done | 1L << i)) {
        return true;
      }
    }
    return false;
  }

  private boolean isAllowed(Call call, long done) {
    long used = 0;
    long lastToken = 0;
    long lastWriter = 0;
    boolean isHeld = false;
    for (int i = 0; i < calls.size(); i++) {
      Call before = calls.get(i);
      if ((done & 1L << i) == 0) {
        continue;
      }
      used += before.took ? units(before.mode) : -units(before.mode);
      lastToken = Math.max(lastToken, before.token);
      if (before.mode instanceof Mode.Exclusive) {
        lastWriter = Math.max(lastWriter, before.token);
      }
      if (before.token == call.token) {
        isHeld = before.took && !isHeld;
      }
    }
    if (!call.took) {
      return isHeld;
    }
    boolean fits = used + units(call.mode) <= all(call.mode);
    return fits && call.token > (call.mode instanceof Mode.Exclusive ? lastToken : lastWriter);
  }

  private static long units(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return permits.wanted();
    }
    return mode instanceof Mode.Shared ? 1 : MOST_CALLS;
  }

  private static long all(Mode mode) {
    return mode.capacity() > 0 ? mode.capacity() : MOST_CALLS;
  }
}
