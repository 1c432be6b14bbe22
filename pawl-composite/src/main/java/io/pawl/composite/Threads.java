package io.pawl.composite;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * One timer, which never blocks, and the workers that it and the stores' own threads hand over to.
 * Their queue is bounded by the claims and counters in use.
 */
final class Threads implements Executor, AutoCloseable {

  private static final int WORKERS = 16;
  private static final AtomicInteger stores = new AtomicInteger();

  private final ScheduledThreadPoolExecutor timer;
  private final ThreadPoolExecutor workers;

  Threads() {
    String prefix = "pawl-gate-" + stores.incrementAndGet();
    AtomicInteger numbers = new AtomicInteger();
    timer = new ScheduledThreadPoolExecutor(1, task -> daemon(task, prefix + "-timer"));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timer.setKeepAliveTime(5, TimeUnit.SECONDS);
    workers =
        new ThreadPoolExecutor(
            WORKERS,
            WORKERS,
            5,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> daemon(task, prefix + "-worker-" + numbers.incrementAndGet()),
            new ThreadPoolExecutor.DiscardPolicy()); // once it is shut down
    workers.allowCoreThreadTimeOut(true);
    timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Runs {@code task}, which may block, on a worker. */
  @Override
  public void execute(Runnable task) {
    workers.execute(task);
  }

  /** Runs {@code task} on a worker {@code nanos} from now. */
  void after(long nanos, Runnable task) {
    timer.schedule(() -> workers.execute(task), nanos, TimeUnit.NANOSECONDS);
  }

  /** {@code next} may block: it runs here where the answer is there, else on a worker. */
  <T, R> CompletionStage<R> then(CompletionStage<T> answer, Function<T, R> next) {
    CompletableFuture<T> future = answer.toCompletableFuture();
    return future.isDone() ? future.thenApply(next) : future.thenApplyAsync(next, this);
  }

  @Override
  public void close() {
    timer.shutdownNow();
    workers.shutdownNow();
  }
}
