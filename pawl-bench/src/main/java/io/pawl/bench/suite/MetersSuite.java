package io.pawl.bench.suite;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pawl.Pawl;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.micrometer.LockMeters;
import io.pawl.options.PawlOptions;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.List;

/** What meters cost on a store that many use: one Redis server, with and without. */
final class MetersSuite implements ContestSuite {

  private static final String PLAIN = PawlRival.PASSING;
  private static final String METERED = "Pawl with meters";

  @Override
  public String name() {
    return "meters";
  }

  @Override
  public String purpose() {
    return "a Redis server, with and without Micrometer's meters";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.passing("redis"),
        PawlRival.passing("redis").named(METERED).openedBy(MetersSuite::metered));
  }

  private static Pawl metered(String url) {
    return Pawl.connect(
        url, PawlOptions.defaults().observer(new LockMeters(new SimpleMeterRegistry())));
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        contest("one lock, 64 threads", Load.of(64, 1)),
        contest("64 locks, 64 threads", Load.of(64, 64)));
  }

  private static Contest contest(String title, Load load) {
    return new Contest(
        title,
        load,
        List.of(PLAIN, METERED),
        List.of(Target.timesAtLeast(0.95, METERED, Metric.CYCLES, PLAIN)));
  }

  @Override
  public Ground open(Path folder) {
    return new RedisSuite.ServerGround(RedisServer.start());
  }
}
