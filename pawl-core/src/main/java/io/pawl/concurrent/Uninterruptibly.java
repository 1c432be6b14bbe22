package io.pawl.concurrent;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits that keep an interrupt for later. */
public final class Uninterruptibly {

  private Uninterruptibly() {}

  /** Waits until {@code stage} is complete, well or not; false if it is not after so long. */
  public static boolean await(CompletionStage<?> stage, long nanos) {
    boolean interrupted = false;
    long giveUpAt = System.nanoTime() + nanos;
    try {
      while (true) {
        try {
          stage.toCompletableFuture().get(giveUpAt - System.nanoTime(), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          return true;
        } catch (TimeoutException e) {
          return false;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
