package io.pawl.concurrent;

import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** {@link System#nanoTime} and one daemon thread for everything that happens later. */
public final class SystemTime implements Time, AutoCloseable {

  private final ScheduledThreadPoolExecutor timer;

  /** Starts its thread: a client that cannot have it fails at once, not amid a lock. */
  public SystemTime(String threadName) {
    this(new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.named(threadName, task)));
    timer.prestartCoreThread();
  }

  private SystemTime(ScheduledThreadPoolExecutor timer) {
    this.timer = timer;
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  private static final class OfAllClients {
    static final SystemTime TIME = new SystemTime(timer());

    private static ScheduledThreadPoolExecutor timer() {
      ScheduledThreadPoolExecutor timer =
          new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.named("pawl-timer", task));
      timer.setKeepAliveTime(1, TimeUnit.SECONDS);
      timer.allowCoreThreadTimeOut(true);
      return timer;
    }
  }

  /** For what is to happen though its client ends; never closed, without a thread while idle. */
  static Time ofAllClients() {
    return OfAllClients.TIME;
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

  /** Waits for the task under way, for at most a second; its thread ends then. */
  @Override
  public void close() {
    timer.shutdownNow();
    Ends.of(timer);
  }
}
