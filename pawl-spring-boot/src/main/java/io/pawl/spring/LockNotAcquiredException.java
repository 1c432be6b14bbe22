package io.pawl.spring;

import io.pawl.error.PawlException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Locked} method did not run, since it did not get its lock in time. Where the wait was
 * interrupted the cause is the {@link InterruptedException}, and the thread stays interrupted.
 */
public final class LockNotAcquiredException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String[] locks;

  LockNotAcquiredException(
      List<String> locks, Duration waited, @Nullable InterruptedException cause) {
    super(
        cause == null
            ? named(locks) + " stayed busy for " + waited
            : "the wait for " + named(locks) + " was interrupted",
        cause);
    this.locks = locks.toArray(new String[0]);
  }

  private static String named(List<String> locks) {
    return locks.size() == 1
        ? "lock '" + locks.get(0) + "'"
        : "one of the locks '" + String.join("', '", locks) + "'";
  }

  /** Returns the lock's name; of several the first in the order of names. */
  public String lock() {
    return locks[0];
  }

  /** Returns the names of all locks that the call asked for together, in their order. */
  public List<String> locks() {
    return List.of(locks);
  }
}
