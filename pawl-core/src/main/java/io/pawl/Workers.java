package io.pawl;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads of a client for what may take long, each kind by itself: users' continuations that block
 * hold up neither renewals nor the news of a loss.
 *
 * @param stores calls to a store that blocks
 * @param users completions of users' futures
 * @param losses {@code onLost} callbacks
 */
record Workers(Executor stores, Executor users, Executor losses) {

  /**
   * Daemon threads that start with work and end after 10 idle seconds. The queues are bounded by
   * what users have under way: each waiter, claim and lease has one task in them.
   */
  static Workers pools(String prefix) {
    return new Workers(
        pool(prefix + "-store-", 16), pool(prefix + "-user-", 16), pool(prefix + "-loss-", 4));
  }

  /** Everything on one executor: for simulations. */
  static Workers on(Executor executor) {
    return new Workers(executor, executor, executor);
  }

  private static ExecutorService pool(String prefix, int threads) {
    AtomicInteger numbers = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, prefix + numbers.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy()); // once it is shut down
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Lets what is queued run, and takes nothing more. */
  void shutdown() {
    for (Executor executor : List.of(stores, users, losses)) {
      if (executor instanceof ExecutorService pool) {
        pool.shutdown();
      }
    }
  }
}
