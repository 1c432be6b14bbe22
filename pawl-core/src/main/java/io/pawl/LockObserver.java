package io.pawl;

import java.time.Duration;

/**
 * Told what happens to locks, for metrics and tracing. Every method does nothing unless overridden;
 * what it throws is logged.
 *
 * <p>What a caller's own call brings about (a blocking acquisition, a close) is told on the caller's
 * thread. Everything else is told on the client's {@linkplain PawlOptions#executor executor}, one
 * call after another; while one blocks, 1,000 wait, and more are dropped. The order between the two
 * is not fixed.
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

  /** A lease was given back in time. */
  default void released(String lock, long token, Duration held) {}

  /** A lease was lost; its {@code onLost} callbacks run next. */
  default void lost(String lock, long token, String why) {}

  /** The store failed to answer; what follows depends on the kind of failure. */
  default void storeFailed(String lock, StoreException failure) {}

  /** Hears nothing. */
  LockObserver NONE = new LockObserver() {};
}
