package io.pawl.bench.quorum;

import io.pawl.Pawl;
import io.pawl.bench.Suite;
import io.pawl.bench.SuiteSource;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;

/** A quorum of five Redis, whole and with one node dead or slow. */
public final class QuorumSuite implements ContestSuite, SuiteSource {

  private static final String ALL = "Pawl, five nodes";
  private static final String ONE = "Pawl, one node";
  private static final String DEAD = "Pawl, one of five dead";
  private static final String SLOW = "Pawl, one of five slow";

  @Override
  public List<Suite> suites() {
    return List.of(this);
  }

  @Override
  public String name() {
    return "quorum";
  }

  @Override
  public String purpose() {
    return "a quorum of five Redis, beside one Redis and Redisson's RedLock";
  }

  private static Rival pawl(String name, UnaryOperator<String> url) {
    return PawlRival.passing("quorum")
        .named(name)
        .openedBy(address -> Pawl.connect(url.apply(address)));
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        pawl(ALL, QuorumGround::whole),
        pawl(ONE, QuorumGround::one),
        pawl(DEAD, QuorumGround::withOneDead),
        pawl(SLOW, QuorumGround::withOneSlow),
        new RedLocks());
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(ALL, ONE, DEAD, SLOW, RedLocks.NAME),
            List.of(
                Target.timesAtMost(2.2, ALL, Metric.P50, ONE),
                Target.timesAtLeast(3, ALL, Metric.CYCLES, RedLocks.NAME),
                Target.timesAtMost(1.2, DEAD, Metric.P99, ALL),
                Target.timesAtMost(1.2, SLOW, Metric.P99, ALL))),
        new Contest(
            "one lock, 3 JVMs × 1 thread",
            Load.of(1, 1).inEachOf(3),
            List.of(ALL, ONE, DEAD, SLOW, RedLocks.NAME),
            List.of(
                Target.timesAtLeast(3, ALL, Metric.CYCLES, RedLocks.NAME),
                Target.timesAtMost(1.2, DEAD, Metric.P99, ALL),
                Target.timesAtMost(1.2, SLOW, Metric.P99, ALL))));
  }

  @Override
  public Ground open(Path folder) {
    return new QuorumGround();
  }
}
