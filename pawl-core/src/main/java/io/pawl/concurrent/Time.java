package io.pawl.concurrent;

/**
 * The only source of time in the engine: monotonic but for one stamp, and replaced by a virtual one
 * in simulation.
 */
public interface Time {

  /** Nanoseconds on a clock that never goes back, with an origin of its own. */
  long nanos();

  /** Milliseconds since 1970, as somebody set them: for ids that are dated, never for a wait. */
  default long wallMillis() {
    return System.currentTimeMillis();
  }

  /** Runs a short task once, {@code delayNanos} from now. */
  Pending after(long delayNanos, Runnable task);

  /** A task that has not run yet. */
  interface Pending {
    void cancel();
  }
}
