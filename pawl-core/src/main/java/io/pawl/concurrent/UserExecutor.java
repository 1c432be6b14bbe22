package io.pawl.concurrent;

import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs users' code: on the executor that they chose, else on as many daemon threads as there are
 * pieces of it at a time, so that one that blocks delays no other. It never drops a task: what the
 * chosen executor rejects runs on a thread of Pawl's, and so does what comes after {@link #close}.
 */
final class UserExecutor implements Executor {

  private static final long IDLE_SECONDS = 10;

  private static final Logger log = LoggerFactory.getLogger(UserExecutor.class);

  private final @Nullable Executor chosen;
  private final ThreadPoolExecutor own;

  UserExecutor(String prefix, @Nullable Executor chosen) {
    this.chosen = chosen;
    this.own =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            DaemonThreads.numbered(prefix));
  }

  @Override
  public void execute(Runnable task) {
    if (chosen != null) {
      try {
        chosen.execute(task);
        return;
      } catch (RuntimeException | Error e) {
        log.warn("the executor of PawlOptions rejected a task; a thread of Pawl's runs it", e);
      }
    }
    own.execute(task);
  }

  /** Idle threads end at once from now on. */
  void close() {
    own.setKeepAliveTime(0, TimeUnit.SECONDS);
  }
}
