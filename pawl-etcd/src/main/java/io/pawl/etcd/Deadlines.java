package io.pawl.etcd;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.error.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * How long a verb may take as a whole, however many requests it makes and however many verbs are
 * before it. What it has begun goes on without anybody who waits for it. One thread for all verbs
 * of a client. Thread-safe.
 */
final class Deadlines implements AutoCloseable {

  private final String store;
  private final long nanos;
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, DaemonThreads.numbered("pawl-etcd-deadline-"));

  /**
   * @param store the address for messages
   * @param nanos how long a verb may take
   */
  Deadlines(String store, long nanos) {
    this.store = store;
    this.nanos = nanos;
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Fails {@code answer} if it does not come in time.
   *
   * @param givesUp called then; returns whether the verb has begun, so that its outcome is unknown
   */
  void limit(CompletableFuture<?> answer, BooleanSupplier givesUp) {
    if (answer.isDone()) {
      return;
    }
    Future<?> alarm;
    try {
      alarm =
          timer.schedule(
              () -> answer.completeExceptionally(late(givesUp.getAsBoolean())),
              nanos,
              TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException closed) {
      return; // whatever it asks for now fails at once
    }
    answer.whenComplete((value, error) -> alarm.cancel(false));
  }

  /** Returns the answer to a verb that has begun; a failure if it does not come in time. */
  <T> CompletableFuture<T> limited(CompletableFuture<T> begun) {
    CompletableFuture<T> answer = begun.copy();
    limit(answer, () -> true);
    return answer;
  }

  private StoreUnavailableException late(boolean begun) {
    String message = "store '" + store + "' did not answer in time";
    return begun
        ? new StoreUnavailableException(message)
        : StoreUnavailableException.unsent(message, null);
  }

  /** Verbs under way end with the requests that they make. */
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
