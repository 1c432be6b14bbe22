package io.pawl.counter;

/** The answer to a change of a counter: applied exactly once, or refused and not at all. */
public sealed interface Change {

  /**
   * It was applied.
   *
   * @param value the counter's value just after
   */
  record Applied(long value) implements Change {}

  /**
   * It would have passed a bound, or did not find the expected value.
   *
   * @param value the counter's value
   */
  record Refused(long value) implements Change {}

  /** The counter's value when this was decided. */
  long value();

  default boolean isApplied() {
    return this instanceof Applied;
  }
}
