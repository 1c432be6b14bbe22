package io.pawl;

import java.time.Duration;

/**
 * How a client behaves. Immutable; each method returns a changed copy.
 *
 * @param application shown to others as part of the holder, may be empty
 * @param patience how long an operation goes on trying a store that fails before it throws, 0 to 1
 *     hour
 * @param observer told what happens
 * @param releaseAtShutdown whether a JVM that ends (System.exit, SIGTERM, last thread) releases
 *     what it holds
 */
public record PawlOptions(
    String application, Duration patience, LockObserver observer, boolean releaseAtShutdown) {

  private static final PawlOptions DEFAULTS =
      new PawlOptions("", Duration.ofSeconds(5), LockObserver.NONE, true);

  public PawlOptions {
    if (patience.isNegative() || patience.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("patience: " + patience + " is not between 0 and 1 hour");
    }
  }

  /** No application name, patience of 5 s, no observer, release at shutdown. */
  public static PawlOptions defaults() {
    return DEFAULTS;
  }

  public PawlOptions application(String name) {
    return new PawlOptions(name, patience, observer, releaseAtShutdown);
  }

  public PawlOptions patience(Duration longest) {
    return new PawlOptions(application, longest, observer, releaseAtShutdown);
  }

  public PawlOptions observer(LockObserver hooks) {
    return new PawlOptions(application, patience, hooks, releaseAtShutdown);
  }

  public PawlOptions releaseAtShutdown(boolean release) {
    return new PawlOptions(application, patience, observer, release);
  }
}
