package io.pawl.servers;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting, with a bound, for what only another process can bring about. */
final class Await {
  static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long PERIOD_MILLIS = 5;

  private Await() {}

  /** Returns once {@code condition} holds; past the bound throws what {@code failure} says. */
  static void until(BooleanSupplier condition, Supplier<String> failure) {
    long startNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - startNanos > PATIENCE.toNanos()) {
        throw new ServerException(failure.get() + " within " + PATIENCE.toSeconds() + " s");
      }
      try {
        Thread.sleep(PERIOD_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new ServerException("interrupted while waiting: " + failure.get(), e);
      }
    }
  }
}
