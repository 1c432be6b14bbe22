package io.pawl.bench.suite;

import io.pawl.bench.contest.Contest;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.Load;
import io.pawl.bench.report.Metric;
import io.pawl.bench.report.Target;
import io.pawl.bench.rival.Rival;
import io.pawl.bench.rival.SharedRivals;
import java.nio.file.Path;
import java.util.List;

/** Read-write locks and semaphores on one Redis server of our own, beside Redisson's. */
final class RedisKindsSuite implements ContestSuite {

  private static final String READ_WRITE = SharedRivals.READ_WRITE;
  private static final String THEIR_READ_WRITE = SharedRivals.REDISSON_READ_WRITE;
  private static final String SEMAPHORE = SharedRivals.SEMAPHORE;
  private static final String WITHOUT_LEASES = SharedRivals.REDISSON_SEMAPHORE;
  private static final String WITH_LEASES = SharedRivals.REDISSON_EXPIRABLE;

  @Override
  public String name() {
    return "redis-kinds";
  }

  @Override
  public String purpose() {
    return "read-write locks and semaphores on Redis, beside Redisson's";
  }

  @Override
  public List<Rival> rivals() {
    return List.of(
        SharedRivals.readWrite(),
        SharedRivals.strictReadWrite(),
        SharedRivals.readWriteOfRedisson(),
        SharedRivals.semaphore(),
        SharedRivals.strictSemaphore(),
        SharedRivals.semaphoreOfRedisson(),
        SharedRivals.expirableSemaphoreOfRedisson());
  }

  @Override
  public List<Contest> contests() {
    return List.of(
        new Contest(
            "read-write, 90 % readers, 64 threads",
            Load.of(64, 1).reading(90),
            List.of(READ_WRITE, SharedRivals.STRICT_READ_WRITE, THEIR_READ_WRITE),
            List.of(
                Target.timesAtLeast(3, READ_WRITE, Metric.CYCLES, THEIR_READ_WRITE),
                Target.timesAtMost(1, READ_WRITE, Metric.WRITER_MAX, THEIR_READ_WRITE))),
        new Contest(
            "semaphore of " + SharedRivals.PERMITS + ", 64 threads",
            Load.of(64, 1).permits(SharedRivals.PERMITS),
            List.of(SEMAPHORE, SharedRivals.STRICT_SEMAPHORE, WITH_LEASES, WITHOUT_LEASES),
            List.of(
                Target.timesAtLeast(3, SEMAPHORE, Metric.CYCLES, WITH_LEASES),
                Target.timesAtLeast(3, SEMAPHORE, Metric.CYCLES, WITHOUT_LEASES))));
  }

  @Override
  public Ground open(Path folder) {
    return new RedisSuite().open(folder);
  }
}
