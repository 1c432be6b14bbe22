package io.pawl.options;

import io.pawl.error.StoreException;
import java.time.Duration;

/**
 * Told what happens to locks, for metrics and tracing. Every method does nothing unless overridden;
 * what it throws is logged.
 *
 * <p>What a caller's own call brings about (a blocking acquisition, a close) is told on the
 * caller's thread. Everything else is told on the client's {@linkplain PawlOptions#executor
 * executor}, one call after another; while one blocks, 1,000 wait, and more are dropped. The order
 * between the two is not fixed.
 */
public interface LockObserver {

  /**
   * A lease was granted.
   *
   * @param waited since it was asked for
   * @param passed whether it came from another thread of this client without asking the store
   */
  default void acquired(String lock, long token, Duration waited, boolean passed) {}

  /** Somebody gave up: refused at once, timed out, interrupted or cancelled. */
  default void notAcquired(String lock, Duration waited) {}

  /**
   * A request began to wait: somebody is in its way, and it stands in line. {@link #waitingEnded}
   * follows exactly once, so that the difference is the number of those who wait, as long as the
   * observer blocks so little that no call is dropped. A request that gets its lock or its refusal
   * at once is not told of. The two may come in either order where they happen at the same moment.
   *
   * @param behindOwn whether a lease of this same client is in the way, as far as the client knows;
   *     {@code Pawl.inspect} asks the store who it is
   */
  default void waiting(String lock, boolean behindOwn) {}

  /**
   * A request that began to wait does so no longer: it was granted, timed out, failed, was
   * interrupted or cancelled.
   *
   * @param waited since the lock was asked for
   */
  default void waitingEnded(String lock, Duration waited) {}

  /** A lease was given back in time. */
  default void released(String lock, long token, Duration held) {}

  /** A lease was lost; its {@code onLost} callbacks run next. */
  default void lost(String lock, long token, String why) {}

  /** The store failed to answer; what follows depends on the kind of failure. */
  default void storeFailed(String lock, StoreException failure) {}

  /** Hears nothing. */
  LockObserver NONE = new LockObserver() {};
}
