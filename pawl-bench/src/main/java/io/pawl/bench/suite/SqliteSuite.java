package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.JavaLocks;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SqlitePair;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** One SQLite file: Pawl beside a pair of transactions written by hand. */
final class SqliteSuite implements ContestSuite {

  @Override
  public String name() {
    return "sqlite";
  }

  @Override
  public String purpose() {
    return "the embedded store, beside a hand-written BEGIN IMMEDIATE … COMMIT pair";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        PawlRival.passing("sqlite"),
        PawlRival.strict("sqlite"),
        PawlRival.sticky("sqlite"),
        PawlRival.late("sqlite"),
        new SqlitePair(),
        new JavaLocks(true),
        new JavaLocks(false));
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(PawlRival.PASSING, PawlRival.STICKY, PawlRival.LATE, SqlitePair.NAME),
            List.of(timesThePair(0.9), OneLock.A_MILLION_STICKY)),
        new Contest(
            "64 locks, 64 threads",
            Load.of(64, 64),
            List.of(PawlRival.PASSING, SqlitePair.NAME),
            List.of(timesThePair(8))),
        OneLock.contest(),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2),
            List.of(PawlRival.PASSING, PawlRival.STRICT, SqlitePair.NAME),
            List.of()),
        new Contest(
            "50 threads × 100 cycles, 100 names",
            Load.of(50, 100).picking(Load.Pick.RANDOM).cycles(100),
            List.of(PawlRival.PASSING, SqlitePair.NAME),
            List.of()));
  }

  private static Target timesThePair(double times) {
    return Target.timesAtLeast(times, PawlRival.PASSING, Metric.CYCLES, SqlitePair.NAME);
  }

  @Override
  public Ground open(Path folder) {
    AtomicInteger files = new AtomicInteger();
    return () -> "sqlite:" + folder.resolve("locks-" + files.incrementAndGet() + ".db");
  }
}
