package io.pawl.options;

import io.pawl.error.StoreException;
import java.time.Duration;

/**
 * Receives what happens to locks, for metrics and tracing. Every method does nothing unless
 * overridden; an exception that it throws is logged.
 *
 * <p>Events that a caller's own call causes (a blocking acquisition, a close) arrive on the
 * caller's thread. All others arrive on the client's {@linkplain PawlOptions#executor executor},
 * one call after another; while one blocks, up to 1,000 wait, and more are dropped. The order
 * between the two is not fixed.
 */
public interface LockObserver {

  /**
   * A lease was granted.
   *
   * @param waited since the request
   * @param passed whether it came from another thread of this client without asking the store
   */
  default void acquired(String lock, long token, Duration waited, boolean passed) {}

  /** A request ended without the lock: refused at once, timed out, interrupted or cancelled. */
  default void notAcquired(String lock, Duration waited) {}

  /**
   * A request began to wait: another claim is in its way, and it stands in the queue. {@link
   * #waitingEnded} follows exactly once, so the difference of the two counts is the number of
   * waiters, as long as the observer blocks so little that no call is dropped. A request that is
   * granted or refused at once causes neither call. The two may come in either order when they
   * happen at the same moment.
   *
   * @param behindOwn whether a lease of the same client is in the way, as far as the client knows;
   *     {@code Pawl.inspect} asks the store for the holder
   */
  default void waiting(String lock, boolean behindOwn) {}

  /**
   * A request stopped waiting: it was granted, timed out, failed, or was interrupted or cancelled.
   *
   * @param waited since the request
   */
  default void waitingEnded(String lock, Duration waited) {}

  /** A lease was released in time. */
  default void released(String lock, long token, Duration held) {}

  /** A lease was lost. Its {@code onLost} callbacks do not wait for this call, nor it for them. */
  default void lost(String lock, long token, String why) {}

  /** The store failed to answer; what happens next depends on the kind of failure. */
  default void storeFailed(String lock, StoreException failure) {}

  /** Ignores every event. */
  LockObserver NONE = new LockObserver() {};
}
