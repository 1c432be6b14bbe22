package io.pawl.checker;

import java.util.List;

/**
 * Judges histories. Immutable and thread-safe.
 *
 * @param waitBoundNanos how long somebody may wait while the lock is free and nothing is broken
 * @param toldGraceNanos how much later a loss may be told than a holder was answered that its lease
 *     is not valid
 * @param searchSteps after how many steps the search for an order of one name's calls is given up
 */
public record Checker(long waitBoundNanos, long toldGraceNanos, int searchSteps) {

  public Checker {
    if (waitBoundNanos < 1 || toldGraceNanos < 0 || searchSteps < 1) {
      throw new IllegalArgumentException(
          "bounds: " + waitBoundNanos + " ns, " + toldGraceNanos + " ns, " + searchSteps);
    }
  }

  /** Returns a verdict of each promise. */
  public List<Verdict> judge(History history) {
    return List.of(
        Exclusion.judge(history),
        TokenOrder.judge(history),
        FencedWrites.judge(history),
        LossTold.judge(history, toldGraceNanos),
        Liveness.judge(history, waitBoundNanos),
        Conservation.judge(history),
        OneAfterAnother.judge(history, searchSteps));
  }
}
