package io.pawl.composite;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One timer, which never blocks, and two pools that it and the stores' own threads hand over to:
 * workers go on with what callers wait for; a few threads in the background compare counters, for
 * which nobody waits, and may stand still for as long as a store does. Their queues are bounded by
 * the claims and counters in use. They have nothing of whoever was the first to need them: neither
 * the class loader nor inheritable thread-locals.
 */
final class Threads implements AutoCloseable {

  static final int BACKGROUND = 16;
  private static final int WORKERS = 16;

  /** Before a task for which no thread could be started is tried again. */
  private static final long NO_THREAD_PAUSE_MILLIS = 20;

  private static final AtomicInteger stores = new AtomicInteger();

  private final ScheduledThreadPoolExecutor timer;
  private final ThreadPoolExecutor workers;
  private final ThreadPoolExecutor background;

  Threads() {
    this(DaemonThreads::numbered);
  }

  /**
   * @param factories by the beginning of their threads' names
   */
  Threads(Function<String, ThreadFactory> factories) {
    String prefix = "pawl-gate-" + stores.incrementAndGet();
    timer =
        new ScheduledThreadPoolExecutor(1, task -> DaemonThreads.named(prefix + "-timer", task));
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    timer.setRemoveOnCancelPolicy(true);
    timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    workers = pool(WORKERS, factories.apply(prefix + "-worker-"));
    background = pool(BACKGROUND, factories.apply(prefix + "-background-"));
  }

  private static ThreadPoolExecutor pool(int size, ThreadFactory factory) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            size, size, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Runs {@code task} on a worker; not at all once this is closed. */
  void soon(Runnable task) {
    tryOn(workers, task);
  }

  /** As {@link #soon}, {@code nanos} from now. */
  void after(long nanos, Runnable task) {
    timer.schedule(() -> tryOn(workers, task), nanos, TimeUnit.NANOSECONDS);
  }

  /** As {@link #after}, in the background. */
  void inBackgroundAfter(long nanos, Runnable task) {
    timer.schedule(() -> tryOn(background, task), nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Returns {@code awaited}, which completes on the timer if it has not after {@code millis}. The
   * timer of the JVM would keep the class loader of the first who needed it for ever.
   */
  @SuppressWarnings("NullAway") // the Void of a stage
  CompletableFuture<Void> overAfter(long millis, CompletableFuture<Void> awaited) {
    Future<?> end = timer.schedule(() -> awaited.complete(null), millis, TimeUnit.MILLISECONDS);
    awaited.whenComplete((nothing, error) -> end.cancel(false));
    return awaited;
  }

  /** Runs what somebody waits for on a worker; once this is closed, right here. */
  Executor awaited() {
    return task -> {
      if (!tryOn(workers, task)) {
        task.run();
      }
    };
  }

  /** {@code next} may block: it runs here where the answer is there, else on a worker. */
  <T, R> CompletionStage<R> then(CompletionStage<T> answer, Function<T, R> next) {
    CompletableFuture<T> future = answer.toCompletableFuture();
    return future.isDone() ? future.thenApply(next) : future.thenApplyAsync(next, awaited());
  }

  /** One for which no thread could be started: whoever comes to it first runs it. */
  private static final class Kept implements Runnable {

    private final AtomicReference<@Nullable Runnable> left;

    Kept(Runnable task) {
      left = new AtomicReference<>(task);
    }

    boolean isLeft() {
      return left.get() != null;
    }

    @Override
    public void run() {
      Runnable task = left.getAndSet(null);
      if (task != null) {
        task.run();
      }
    }
  }

  private boolean tryOn(ThreadPoolExecutor pool, Runnable task) {
    try {
      pool.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false; // it is closed
    } catch (OutOfMemoryError noThread) {
      pool.remove(task);
      keep(pool, task instanceof Kept kept ? kept : new Kept(task));
      return true;
    }
  }

  private void keep(ThreadPoolExecutor pool, Kept task) {
    if (pool.getPoolSize() > 0 && pool.getQueue().isEmpty()) {
      pool.getQueue().offer(task); // a pool that may grow would rather do that
    }
    timer.schedule(() -> again(pool, task), NO_THREAD_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void again(ThreadPoolExecutor pool, Kept task) {
    if (task.isLeft()) {
      tryOn(pool, task);
    }
  }

  /** What was begun ends, on daemon threads; nothing new begins. */
  @Override
  public void close() {
    timer.shutdownNow();
    background.shutdown();
    workers.shutdown();
    Ends.of(timer);
  }
}
