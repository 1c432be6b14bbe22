package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One thread for everything that needs a time. Tasks are short and never block. */
final class Clock implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Clock.class);

  private final ScheduledThreadPoolExecutor timer;

  Clock() {
    timer = new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("pawl-zookeeper-"));
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timer.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
  }

  /** Runs {@code task} once; after {@link #close} not at all. */
  Future<?> after(long nanos, Runnable task) {
    try {
      return timer.schedule(() -> run(task), Math.max(0, nanos), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      return new FutureTask<>(task, null);
    }
  }

  Future<?> every(long nanos, Runnable task) {
    return timer.scheduleAtFixedRate(() -> run(task), nanos, nanos, TimeUnit.NANOSECONDS);
  }

  /** How many tasks wait for their time. */
  int waiting() {
    return timer.getQueue().size();
  }

  private static void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      say(e);
    }
  }

  /** What leaves a periodic task ends it. */
  private static void say(Throwable failure) {
    try {
      log.error("a timed task failed", failure);
    } catch (OutOfMemoryError e) {
      failure.addSuppressed(e);
    }
  }

  /** {@code stage}, which fails with {@code late} if it is not complete in time. */
  <T> CompletableFuture<T> bounded(
      CompletableFuture<T> stage, long nanos, Supplier<? extends RuntimeException> late) {
    if (stage.isDone()) {
      return stage;
    }
    CompletableFuture<T> bounded = new CompletableFuture<>();
    Future<?> end = after(nanos, () -> bounded.completeExceptionally(late.get()));
    stage.whenComplete(
        (value, error) -> {
          end.cancel(false);
          if (error == null) {
            bounded.complete(value);
          } else {
            bounded.completeExceptionally(error);
          }
        });
    return bounded;
  }

  /** Waits for the task under way, for at most a second. */
  @Override
  public void close() {
    timer.shutdownNow();
    Ends.of(timer);
  }
}
