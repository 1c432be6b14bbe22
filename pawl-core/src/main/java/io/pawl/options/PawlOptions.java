package io.pawl.options;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * How a client behaves. Immutable; each method returns a changed copy.
 *
 * @param application the program's name, which others see as part of the holder, may be empty
 * @param patience how long an operation keeps trying a failing store before it throws, 0 to 1 hour
 * @param observer receives what happens to locks
 * @param releaseAtShutdown whether a JVM that ends (System.exit, SIGTERM, last thread) closes the
 *     client, as {@code Pawl.close} does
 * @param shutdownGrace how long {@code Pawl.close} waits for holders to close their leases, 0 to 1
 *     hour
 * @param executor where users' code runs: continuations of futures, callbacks of leases, observers
 *     and listeners. Its {@code execute} must return at once: the threads that renew leases call
 *     it, so it must neither run the task nor wait for room. It may queue tasks or reject them.
 *     What it queues for long users hear of late. Null means daemon threads of Pawl, as many as
 *     there are tasks at a time
 * @param retention what the client lets its store forget from time to time
 */
public record PawlOptions(
    String application,
    Duration patience,
    LockObserver observer,
    boolean releaseAtShutdown,
    Duration shutdownGrace,
    @Nullable Executor executor,
    Retention retention) {

  private static final PawlOptions DEFAULTS =
      new PawlOptions(
          "",
          Duration.ofSeconds(5),
          LockObserver.NONE,
          true,
          Duration.ofSeconds(5),
          null,
          Retention.NONE);

  public PawlOptions {
    check("patience", patience);
    check("shutdown grace", shutdownGrace);
    Objects.requireNonNull(application, "application");
    Objects.requireNonNull(observer, "observer");
    Objects.requireNonNull(retention, "retention");
  }

  private static void check(String what, Duration time) {
    if (time.isNegative() || time.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException(what + ": " + time + " is not between 0 and 1 hour");
    }
  }

  /**
   * Returns the defaults: no application name, a patience of 5 s, no observer, release at shutdown,
   * a grace of 5 s, threads of Pawl for users' code, nothing forgotten.
   */
  public static PawlOptions defaults() {
    return DEFAULTS;
  }

  public PawlOptions application(String name) {
    return new PawlOptions(
        name, patience, observer, releaseAtShutdown, shutdownGrace, executor, retention);
  }

  public PawlOptions patience(Duration longest) {
    return new PawlOptions(
        application, longest, observer, releaseAtShutdown, shutdownGrace, executor, retention);
  }

  public PawlOptions observer(LockObserver hooks) {
    return new PawlOptions(
        application, patience, hooks, releaseAtShutdown, shutdownGrace, executor, retention);
  }

  public PawlOptions releaseAtShutdown(boolean release) {
    return new PawlOptions(
        application, patience, observer, release, shutdownGrace, executor, retention);
  }

  public PawlOptions shutdownGrace(Duration grace) {
    return new PawlOptions(
        application, patience, observer, releaseAtShutdown, grace, executor, retention);
  }

  public PawlOptions executor(Executor users) {
    return new PawlOptions(
        application, patience, observer, releaseAtShutdown, shutdownGrace, users, retention);
  }

  public PawlOptions retention(Retention forgets) {
    return new PawlOptions(
        application, patience, observer, releaseAtShutdown, shutdownGrace, executor, forgets);
  }
}
