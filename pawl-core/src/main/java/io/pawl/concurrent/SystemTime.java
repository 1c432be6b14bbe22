package io.pawl.concurrent;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** {@link System#nanoTime} and one daemon thread for everything that happens later. */
public final class SystemTime implements Time, AutoCloseable {

  private final ScheduledThreadPoolExecutor timer;

  public SystemTime(String threadName) {
    timer = new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.named(threadName, task));
    timer.prestartCoreThread(); // a client that cannot have it fails at once, not amid a lock
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public Pending after(long delayNanos, Runnable task) {
    try {
      Future<?> future = timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
      return () -> future.cancel(false);
    } catch (RejectedExecutionException closed) {
      return () -> {};
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
