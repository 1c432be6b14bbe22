package io.pawl.error;

import java.time.Duration;

/**
 * A body ran longer than it was allowed to, and was interrupted. Its lock was held until its end.
 */
public final class RunTooLongException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String lock;
  private final Duration maxRun;

  public RunTooLongException(String lock, long token, Duration maxRun) {
    super(
        "the body under lock '"
            + lock
            + "' with token "
            + token
            + " ran longer than "
            + maxRun
            + " and was interrupted",
        null);
    this.lock = lock;
    this.maxRun = maxRun;
  }

  /** The lock's name. */
  public String lock() {
    return lock;
  }

  /** How long it was allowed to run. */
  public Duration maxRun() {
    return maxRun;
  }
}
