package io.pawl.error;

import java.time.Duration;

/** A body ran longer than allowed and was interrupted. The lock was held until the body ended. */
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

  /** Returns the lock's name. */
  public String lock() {
    return lock;
  }

  /** Returns how long the body was allowed to run. */
  public Duration maxRun() {
    return maxRun;
  }
}
