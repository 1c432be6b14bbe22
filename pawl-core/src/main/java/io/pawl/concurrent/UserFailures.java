package io.pawl.concurrent;

import java.util.function.Consumer;

/** What users' code threw. To write it down runs users' code as well, its {@code getMessage}. */
public final class UserFailures {

  private UserFailures() {}

  /**
   * Calls {@code logger} with {@code failure}; once more, where it throws what the failure's own
   * methods do, with what stands for it.
   */
  public static void log(Throwable failure, Consumer<Throwable> logger) {
    try {
      logger.accept(failure);
    } catch (Throwable e) {
      logger.accept(
          new IllegalStateException(
              failure.getClass().getName() + " was thrown, which cannot be written down"));
    }
  }
}
