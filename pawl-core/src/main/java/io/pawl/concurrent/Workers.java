package io.pawl.concurrent;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Threads of a client for what may take long. The engine's own work and users' code never share
 * one.
 *
 * @param stores calls to a store that blocks
 * @param renewals renewals at a store that blocks: they wait for no other call
 * @param users completions of users' futures
 * @param callbacks users' callbacks and observer
 */
public record Workers(Executor stores, Executor renewals, Executor users, Executor callbacks) {

  private static final int STORE_THREADS = 16;

  /**
   * Daemon threads that start with work and end after 10 idle seconds. The queue of calls to the
   * store is bounded by what users have under way: each waiter, claim and lease has one task in it.
   *
   * @param chosen where users want their code to run; null for threads of Pawl's
   */
  public static Workers pools(String prefix, @Nullable Executor chosen) {
    UserExecutor users = new UserExecutor(prefix + "-user-", chosen);
    return new Workers(
        storePool(prefix + "-store-"), storePool(prefix + "-renewal-"), users, users);
  }

  /**
   * For simulations.
   *
   * @param callbacks may run its tasks on the spot
   */
  public static Workers on(Executor executor, Executor callbacks) {
    return new Workers(executor, executor, executor, callbacks);
  }

  private static ExecutorService storePool(String prefix) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            STORE_THREADS,
            STORE_THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.numbered(prefix),
            new ThreadPoolExecutor.DiscardPolicy()); // once it is shut down
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Lets what is queued run; the store is called no more. */
  public void shutdown() {
    for (Executor calls : List.of(stores, renewals)) {
      if (calls instanceof ExecutorService pool) {
        pool.shutdown();
      }
    }
    if (users instanceof UserExecutor own) {
      own.close();
    }
  }
}
