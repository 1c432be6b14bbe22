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
            });
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }
}
