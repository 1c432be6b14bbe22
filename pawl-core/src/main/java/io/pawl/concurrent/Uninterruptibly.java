package io.pawl.concurrent;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Waits that keep an interrupt for later. */
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
    return until(
        left -> {
          try {
            future.get(left, TimeUnit.NANOSECONDS);
            return true;
          } catch (ExecutionException e) {
            return true;
          } catch (TimeoutException e) {
            return false;
          }
        },
        nanos);
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
