package io.pawl.etcd.gateway;

import io.pawl.concurrent.DaemonThreads;
import java.io.IOException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Closes connections to members that do not take in what is written: a socket has a time limit for
 * reading and none for writing. One thread for all connections of a client. Thread-safe.
 */
final class WriteLimits implements AutoCloseable {

  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("pawl-etcd-limit-"));

  WriteLimits() {
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Closes {@code connection} at {@code deadline} unless the answer is cancelled before.
   *
   * @param deadline in terms of {@link System#nanoTime}
   * @throws IOException if the client was closed
   */
  Future<?> close(HttpConnection connection, long deadline) throws IOException {
    try {
      return timer.schedule(connection::close, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      throw new IOException("the client was closed", e);
    }
  }

  /** Waits for the end of its thread, for at most a second. */
  @Override
  public void close() {
    timer.shutdownNow();
    try {
      timer.awaitTermination(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
