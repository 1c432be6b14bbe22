package io.pawl.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Waits that keep an interrupt for later. On a thread of a {@link
 * java.util.concurrent.ForkJoinPool} they run no other task of the pool meanwhile, as a future's
 * own waits do: it would be a user's, inside whatever the caller holds.
 */
public final class Uninterruptibly {

  private Uninterruptibly() {}

  private interface Wait {

    /** Whether what was waited for has come. */
    boolean atMost(long nanos) throws InterruptedException;
  }

  private static boolean until(Wait wait, long nanos) {
    long giveUpAt = System.nanoTime() + nanos;
    try (KeptInterrupts kept = new KeptInterrupts()) {
      while (true) {
        try {
          return wait.atMost(giveUpAt - System.nanoTime());
        } catch (InterruptedException e) {
          kept.caught();
        }
      }
    }
  }

  /** Waits until {@code stage} is complete, well or not; false if it is not after so long. */
  public static boolean await(CompletionStage<?> stage, long nanos) {
    CompletableFuture<?> future = stage.toCompletableFuture();
    if (future.isDone()) {
      return true;
    }
    return await(end(future), nanos);
  }

  /** Waits until {@code latch} is open; false if it is not after so long. */
  public static boolean await(CountDownLatch latch, long nanos) {
    return until(left -> latch.await(left, TimeUnit.NANOSECONDS), nanos);
  }

  /** Is open once {@code future} is complete, well or not. */
  public static CountDownLatch end(CompletableFuture<?> future) {
    CountDownLatch done = new CountDownLatch(1);
    future.whenComplete((value, error) -> done.countDown());
    return done;
  }

  /** As {@link CompletableFuture#join}. */
  public static <T extends @Nullable Object> T join(CompletableFuture<T> future) {
    await(future, Long.MAX_VALUE);
    return future.join();
  }

  /** As {@link CompletableFuture#get()}. */
  public static <T extends @Nullable Object> T get(CompletableFuture<T> future)
      throws ExecutionException {
    await(future, Long.MAX_VALUE);
    return getNow(future);
  }

  /** As {@link CompletableFuture#get(long, TimeUnit)}. */
  public static <T extends @Nullable Object> T get(CompletableFuture<T> future, long nanos)
      throws ExecutionException, TimeoutException {
    if (!await(future, nanos)) {
      throw new TimeoutException();
    }
    return getNow(future);
  }

  private static <T extends @Nullable Object> T getNow(CompletableFuture<T> complete)
      throws ExecutionException {
    try {
      return complete.get();
    } catch (InterruptedException e) {
      throw new AssertionError("there is nothing to wait for", e);
    }
  }

  /** Takes a permit; false if there is none after so long. */
  public static boolean tryAcquire(Semaphore semaphore, long nanos) {
    return until(left -> semaphore.tryAcquire(left, TimeUnit.NANOSECONDS), nanos);
  }

  /** Waits until {@code thread} has ended. */
  public static void join(Thread thread) {
    until(
        left -> {
          thread.join();
          return true;
        },
        Long.MAX_VALUE);
  }
}
