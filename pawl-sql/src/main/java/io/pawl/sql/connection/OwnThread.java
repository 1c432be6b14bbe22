package io.pawl.sql.connection;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import io.pawl.concurrent.Uninterruptibly;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Threads of a store's own, which are nobody else's in any respect: no transaction is theirs, and
 * they have neither the class loader nor the thread-locals of whoever happened to be the first to
 * ask.
 */
public final class OwnThread {

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private OwnThread() {}

  /** Runs {@code work} on a thread of its own, and returns or throws what it does. */
  public static <T> T call(String name, Supplier<T> work) {
    CompletableFuture<T> done = new CompletableFuture<>();
    DaemonThreads.named(
            name,
            () -> {
              try {
                done.complete(work.get());
              } catch (RuntimeException | Error e) {
                done.completeExceptionally(e);
              }
            })
        .start();
    try {
      return Uninterruptibly.join(done);
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw e;
    }
  }

  /** One daemon thread that starts with its first task and ends after 10 idle seconds. */
  public static ThreadPoolExecutor named(String name) {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> DaemonThreads.named(name, task),
            (task, closed) -> task.run()); // it ends at once, having seen that it is too late
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Waits, for at most 5 s, until what {@code thread} is at has ended. */
  public static void end(ThreadPoolExecutor thread) {
    thread.shutdown();
    Ends.of(thread, PATIENCE);
  }
}
