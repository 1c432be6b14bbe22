package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.GroupsOfEight.PawlGroups;
import io.pawl.bench.rival.GroupsOfEight.RedissonGroups;
import io.pawl.bench.rival.Rival;
import java.nio.file.Path;
import java.util.List;

/** Eight locks at once on one Redis server of our own, beside Redisson's multi-lock. */
final class RedisGroupSuite implements ContestSuite {

  private static final String PAWL = PawlGroups.NAME;
  private static final String REDISSON = RedissonGroups.NAME;

  @Override
  public String name() {
    return "redis-group";
  }

  @Override
  public String purpose() {
    return "eight locks at once on Redis, beside Redisson's multi-lock";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(new PawlGroups(), new RedissonGroups());
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "8 free locks at once, 1 thread",
            Load.of(1, 1),
            List.of(PAWL, REDISSON),
            List.of(Target.timesAtLeast(4, PAWL, Metric.CYCLES, REDISSON))),
        new Contest(
            "8 free locks at once, 8 threads",
            Load.of(8, 8),
            List.of(PAWL, REDISSON),
            List.of(Target.timesAtLeast(4, PAWL, Metric.CYCLES, REDISSON))),
        new Contest(
            "the same 8 locks at once, 8 threads",
            Load.of(8, 1),
            List.of(PAWL, REDISSON),
            List.of(Target.timesAtLeast(4, PAWL, Metric.CYCLES, REDISSON))));
  }

  @Override
  public Ground open(Path folder) {
    return new RedisSuite().open(folder);
  }
}
