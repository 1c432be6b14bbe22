package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.JavaLocks;
import io.pawl.bench.rival.PawlRival;
import java.util.List;

/** Sixty-four threads of one JVM on one lock: the load that every store has, and its targets. */
final class OneLock {

  /** Of a free lock whose hold is kept: it asks no store, so that none is slower. */
  static final Target A_MILLION_STICKY = Target.atLeast(PawlRival.STICKY, Metric.CYCLES, 1_000_000);

  private OneLock() {}

  static Contest contest() {
    return new Contest(
        "one lock, 64 threads",
        Load.of(64, 1),
        List.of(PawlRival.PASSING, PawlRival.STRICT, JavaLocks.FAIR, JavaLocks.UNFAIR),
        List.of(
            Target.atLeast(PawlRival.PASSING, Metric.CYCLES, 200_000),
            Target.atMost(PawlRival.PASSING, Metric.MAX, 250),
            Target.atMost(PawlRival.PASSING, Metric.THREAD_SPREAD, 4),
            Target.atMost(PawlRival.STRICT, Metric.THREAD_SPREAD, 1.2)));
  }
}
