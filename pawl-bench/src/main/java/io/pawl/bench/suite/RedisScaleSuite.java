package io.pawl.bench.suite;

import io.pawl.Pawl;
import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.RedissonLocks;
import io.pawl.bench.rival.Rival;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a grant costs as clients, waiters and locks become more, on a Redis server. */
final class RedisScaleSuite implements ContestSuite {

  private static final int[] CLIENTS = {4, 20, 100};
  private static final int[] WAITERS = {16, 160, 1_600};
  private static final int[] LOCKS = {100, 10_000, 100_000};
  private static final int THREADS = 16;

  /** As patient as Redisson with its defaults: 3 s an attempt, five of them, and pauses between. */
  private static final String PATIENCE = "timeout=20s";

  private static final String PAWL = PawlRival.PASSING;
  private static final String STRICT = PawlRival.STRICT;
  private static final String RLOCK = RedissonLocks.Kind.PLAIN.title;

  @Override
  public String name() {
    return "redis-scale";
  }

  @Override
  public String purpose() {
    return "more and more clients, waiters and locks on a Redis server";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.passing("redis").openedBy(RedisScaleSuite::patient),
        PawlRival.strict("redis").openedBy(RedisScaleSuite::patient),
        new RedissonLocks(RedissonLocks.Kind.PLAIN));
  }

  @Override
  public List<Contest> contests() {
    List<Contest> contests = new ArrayList<>();
    for (int clients : CLIENTS) {
      contests.add(
          new Contest(
              "one lock, " + clients + " JVMs × 1 thread",
              Load.of(1, 1).inEachOf(clients),
              List.of(PAWL, RLOCK),
              List.of()));
    }
    for (int waiters : WAITERS) {
      contests.add(
          new Contest(
              "one lock, 2 JVMs × " + waiters + " threads",
              Load.of(waiters, 1).inEachOf(2),
              List.of(STRICT),
              List.of()));
    }
    for (int locks : LOCKS) {
      contests.add(
          new Contest(
              "any of " + locks + " locks, " + THREADS + " threads",
              Load.of(THREADS, locks).picking(Load.Pick.RANDOM),
              List.of(PAWL, RLOCK),
              List.of()));
    }
    return contests;
  }

  private static Pawl patient(String address) {
    return Pawl.connect(address + (address.contains("?") ? "&" : "?") + PATIENCE);
  }

  @Override
  public Ground open(Path folder) {
    return new RedisSuite.ServerGround(RedisServer.start());
  }
}
