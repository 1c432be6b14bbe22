package io.pawl.options;

import io.pawl.error.StoreException;
import java.time.Duration;

/**
 * Receives what happens to locks, for metrics and tracing. Every method does nothing unless
 * overridden; an exception that it throws is logged.
 *
 * <p>Events that a caller's own call for a single lock causes (a blocking acquisition, a close)
 * arrive on the caller's thread. All others, those of groups too, arrive on the client's
 * {@linkplain PawlOptions#executor executor}, one call after another; while one blocks, up to 1,000
 * wait, and more are dropped. The order between the two is not fixed.
 */
public interface LockObserver {

  /**
   * Returns what others see of a request beside the {@linkplain LockOptions#note note} of its
   * options, as in {@code Pawl.inspect}: the trace that it is part of, say. Called for each request
   * on the thread that makes it, before the store is asked, so it must return at once. Of threads
   * that pass a lock among themselves, others see the first one's. Up to 256 characters; empty
   * unless overridden.
   */
  default String noteFor(String lock) {
    return "";
  }

  /**
   * A lease was granted. For a future, the call is on its way before what is attached to it runs.
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

  /**
   * A run of a {@link io.pawl.ScheduledJob} was left out: the job runs elsewhere, or ran within its
   * shortest hold. {@link #notAcquired} was called for the same request.
   */
  default void skipped(String job) {}

  /** The store failed to answer; what happens next depends on the kind of failure. */
  default void storeFailed(String lock, StoreException failure) {}

  /** Ignores every event. */
  LockObserver NONE = new LockObserver() {};
}
