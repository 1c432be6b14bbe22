package io.pawl.concurrent;

import java.io.PrintWriter;
import java.io.Writer;

/** What users' code threw. To write it down runs users' code as well, its {@code getMessage}. */
public final class UserFailures {

  private UserFailures() {}

  /**
   * Returns {@code failure}, or what stands for it where its own methods fail: a logger would throw
   * on what they throw.
   */
  public static Throwable forLog(Throwable failure) {
    try {
      failure.printStackTrace(new PrintWriter(Writer.nullWriter()));
      return failure;
    } catch (Throwable e) {
      return new IllegalStateException(
          failure.getClass().getName() + " was thrown, which cannot be written down");
    }
  }
}
