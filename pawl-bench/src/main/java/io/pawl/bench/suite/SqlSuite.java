package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.CentralRows;
import io.pawl.bench.rival.GuardedUpdate;
import io.pawl.bench.rival.PawlRival;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SessionLocks;
import io.pawl.bench.rival.SpringLocks;
import io.pawl.bench.rival.SqlFlavour;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** A database server of our own: Pawl beside what teams write themselves, and Spring's registry. */
final class SqlSuite implements ContestSuite {

  private static final String PAWL = PawlRival.PASSING;
  private static final String STRICT = PawlRival.STRICT;
  private static final String STRIPED = CentralRows.STRIPED;
  private static final String GUARDED = GuardedUpdate.NAME;

  private final SqlFlavour flavour;
  private final double handOffMillis;

  /**
   * @param handOffMillis the target between two JVMs
   */
  SqlSuite(SqlFlavour flavour, double handOffMillis) {
    this.flavour = flavour;
    this.handOffMillis = handOffMillis;
  }

  @Override
  public String name() {
    return flavour.word();
  }

  @Override
  public String purpose() {
    return "a "
        + flavour.title
        + " server, beside central rows, a guarded UPDATE, "
        + flavour.sessionLock
        + " and JdbcLockRegistry";
  }

  @Override
  public List<Rival> rivals() {
    String scheme = "jdbc:" + flavour.name().toLowerCase(Locale.ROOT);
    return List.of(
        PawlRival.passing(scheme),
        PawlRival.strict(scheme),
        PawlRival.sticky(scheme),
        PawlRival.late(scheme),
        new CentralRows(1),
        new CentralRows(SqlGround.CENTRAL_ROWS),
        new GuardedUpdate(flavour),
        new SessionLocks(flavour),
        new SpringLocks());
  }

  @Override
  public List<Contest> contests() {
    Load fiftyByHundred = Load.of(50, 100).picking(Load.Pick.RANDOM).cycles(100);
    return List.of(
        new Contest(
            "free lock, 1 thread",
            Load.of(1, 1),
            List.of(PAWL, PawlRival.STICKY, PawlRival.LATE, GUARDED, flavour.sessionLock),
            List.of(
                Target.timesAtLeast(0.8, PAWL, Metric.CYCLES, GUARDED), OneLock.A_MILLION_STICKY)),
        new Contest(
            "64 locks, 64 threads",
            Load.of(64, 64),
            List.of(PAWL, GUARDED, SpringLocks.NAME),
            List.of(Target.timesAtLeast(10, PAWL, Metric.CYCLES, GUARDED))),
        new Contest(
            "one lock, 64 threads",
            Load.of(64, 1),
            List.of(PAWL, STRICT, STRIPED, flavour.sessionLock),
            List.of(Target.timesAtLeast(100, PAWL, Metric.CYCLES, STRIPED))),
        new Contest(
            "one lock, 2 JVMs × 16 threads",
            Load.of(16, 1).inEachOf(2),
            List.of(STRICT, STRIPED, flavour.sessionLock),
            List.of(
                Target.timesAtLeast(3, STRICT, Metric.CYCLES, STRIPED),
                Target.atMost(STRICT, Metric.HAND_OFF_P50, handOffMillis))),
        new Contest(
            "one lock, 4 JVMs × 1 thread",
            Load.of(1, 1).inEachOf(4),
            List.of(PAWL, STRIPED, GUARDED),
            List.of(
                Target.timesAtLeast(1, PAWL, Metric.CYCLES, GUARDED),
                Target.timesAtMost(0.2, PAWL, Metric.OPERATIONS, GUARDED),
                Target.timesAtMost(0.5, PAWL, Metric.P99, GUARDED))),
        new Contest(
            "50 threads × 100 cycles, 100 names",
            fiftyByHundred,
            List.of(PAWL, STRIPED, CentralRows.ONE, GUARDED),
            List.of(Target.timesAtMost(0.1, PAWL, Metric.ALL_MILLIS, STRIPED))),
        new Contest(
            "50 threads × 100 cycles, 100 names, each reads and writes a row",
            fiftyByHundred.writing(),
            List.of(PAWL, STRIPED, GUARDED),
            List.of()),
        new Contest(
            "5,000 threads at once, 100 names, each reads and writes a row",
            Load.of(5_000, 100).cycles(1).writing(),
            List.of(PAWL, STRIPED),
            List.of()));
  }

  @Override
  public SqlGround open(Path folder) {
    return new SqlGround(flavour);
  }

  @Override
  public Resource resource(String address) {
    return new ProtectedRows(address);
  }
}
