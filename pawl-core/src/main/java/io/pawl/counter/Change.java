package io.pawl.counter;

/**
 * What became of a change of a counter, a take among them: applied exactly once, or refused and not
 * applied at all.
 */
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
   * @param value the counter's value, of which the floor is part
   */
  record Refused(long value) implements Change {}

  /** The counter's value when this was decided. */
  long value();

  /** Whether it was applied: for a take, whether it is yours. */
  default boolean isApplied() {
    return this instanceof Applied;
  }
}
