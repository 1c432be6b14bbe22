package io.pawl;

/**
 * The only source of time in the engine: monotonic, and replaced by a virtual one in simulation.
 */
interface Time {

  /** Nanoseconds on a clock that never goes back, with an origin of its own. */
  long nanos();

  /** Runs a short task once, {@code delayNanos} from now. */
  Pending after(long delayNanos, Runnable task);

  /** A task that has not run yet. */
  interface Pending {
    void cancel();
  }
}
