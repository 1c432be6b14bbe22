package io.pawl.concurrent;

import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Threads of a client for what may take long. The engine's own work and users' code never share
 * one.
 *
 * @param stores calls to a store that blocks
 * @param renewals renewals at a store that blocks: they wait for no other call
 * @param users completions of users' futures
 * @param callbacks users' callbacks and observer
 * @param interrupts of users' threads, each of which may take long
 */
public record Workers(
    Executor stores, Executor renewals, Executor users, Executor callbacks, Executor interrupts) {

  private static final int STORE_THREADS = 16;

  /**
   * Daemon threads that start with work and end after 10 idle seconds. The queue of calls to the
   * store is bounded by what users have under way: each waiter, claim and lease has one task in it.
   *
   * @param chosen where users want their code to run; null for threads of Pawl's
   * @param time for another try where no thread can be started
   */
  public static Workers pools(String prefix, @Nullable Executor chosen, Time time) {
    Pool own = Pool.unbounded(DaemonThreads.numbered(prefix + "-user-"), time);
    UserExecutor users = new UserExecutor(chosen, own);
    return new Workers(
        Pool.of(STORE_THREADS, DaemonThreads.numbered(prefix + "-store-"), time),
        Pool.of(STORE_THREADS, DaemonThreads.numbered(prefix + "-renewal-"), time),
        users,
        users,
        Pool.unbounded(DaemonThreads.numbered(prefix + "-interrupt-"), time));
  }

  /**
   * For simulations.
   *
   * @param callbacks may run its tasks on the spot; interrupts too
   */
  public static Workers on(Executor executor, Executor callbacks) {
    return new Workers(executor, executor, executor, callbacks, callbacks);
  }

  /** Idle threads end at once from now on. What comes late is run still: somebody waits for it. */
  public void shutdown() {
    for (Executor executor : List.of(stores, renewals, users, interrupts)) {
      if (executor instanceof Pool pool) {
        pool.close();
      } else if (executor instanceof UserExecutor user) {
        user.own().close();
      }
    }
  }
}
