package io.pawl.concurrent;

import java.util.function.Consumer;

/** What users' code threw. To write it down runs users' code as well, its {@code getMessage}. */
public final class UserFailures {

  private UserFailures() {}

  /**
   * Calls {@code logger} with {@code failure}; once more, where it throws what the failure's own
   * methods do, with what stands for it. A logger that throws on that too has nobody to be told.
   */
  public static void log(Throwable failure, Consumer<Throwable> logger) {
    try {
      logger.accept(failure);
    } catch (Throwable e) {
      standIn(failure, logger);
    }
  }

  private static void standIn(Throwable failure, Consumer<Throwable> logger) {
    try {
      logger.accept(
          new IllegalStateException(
              failure.getClass().getName() + " was thrown, which cannot be written down"));
    } catch (Throwable e) {
      return; // whoever hears next is to hear all the same
    }
  }
}
