package io.pawl.spring;

import io.pawl.error.PawlException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Locked} method did not run, since it did not get its lock in time. Where the wait was
 * interrupted the cause is the {@link InterruptedException}, and the thread stays interrupted.
 */
public final class LockNotAcquiredException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String lock;

  LockNotAcquiredException(String lock, Duration waited, @Nullable InterruptedException cause) {
    super(
        cause == null
            ? "lock '" + lock + "' stayed busy for " + waited
            : "the wait for lock '" + lock + "' was interrupted",
        cause);
    this.lock = lock;
  }

  /** Returns the lock's name. */
  public String lock() {
    return lock;
  }
}
