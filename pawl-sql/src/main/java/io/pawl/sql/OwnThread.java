package io.pawl.sql;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** One daemon thread that starts with its first task and ends after 10 idle seconds. */
final class OwnThread {

  private OwnThread() {}

  static ThreadPoolExecutor named(String name) {
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, name);
              thread.setDaemon(true);
              return thread;
            },
            (task, closed) -> task.run()); // it ends at once, having seen that it is too late
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Waits, for at most 5 s, until what {@code thread} is at has ended. */
  static void end(ThreadPoolExecutor thread) {
    thread.shutdown();
    boolean interrupted = Thread.interrupted();
    try {
      thread.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
