package io.pawl.counter;

/**
 * The answer to {@link io.pawl.Counter#tryTake}: taken exactly once, or refused and not taken at
 * all.
 */
public sealed interface Take {

  /**
   * It was taken.
   *
   * @param left the counter's value just after
   */
  record Taken(long left) implements Take {}

  /**
   * It would have passed the floor.
   *
   * @param left the counter's value, of which the floor is part
   */
  record Refused(long left) implements Take {}

  /** The counter's value when this was decided. */
  long left();

  default boolean isTaken() {
    return this instanceof Taken;
  }
}
