package io.pawl.shedlock;

import io.pawl.Lease;
import io.pawl.concurrent.DaemonThreads;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unlocks that are due later. One daemon thread waits for them, and lives while there are some.
 * Each is made on a thread of its own: it takes as long as its store is silent, and tells the
 * client's observer.
 */
final class DueUnlocks {

  private static final Logger log = LoggerFactory.getLogger(DueUnlocks.class);

  private final ScheduledThreadPoolExecutor timer;

  DueUnlocks() {
    timer =
        new ScheduledThreadPoolExecutor(
            1, task -> DaemonThreads.named("pawl-shedlock-timer", task));
    timer.setKeepAliveTime(1, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    timer.setRemoveOnCancelPolicy(true);
  }

  /** Runs {@code unlock} in {@code nanos}, unless {@code lease} is lost before, with its client. */
  void after(long nanos, Lease lease, Runnable unlock) {
    Future<?> due = timer.schedule(() -> start(unlock), nanos, TimeUnit.NANOSECONDS);
    lease.onLost(
        () -> {
          if (due.cancel(false)) {
            log.warn("lock '{}' is left to run out", lease.lock());
          }
        });
  }

  private static void start(Runnable unlock) {
    try {
      DaemonThreads.named("pawl-shedlock-unlock", unlock).start();
    } catch (OutOfMemoryError noThread) {
      unlock.run();
    }
  }
}
