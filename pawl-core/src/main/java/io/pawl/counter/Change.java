package io.pawl.counter;

/**
 * The result of a change of a counter, such as a take: applied exactly once, or refused and not
 * applied at all.
 */
public sealed interface Change {

  /**
   * The change was applied.
   *
   * @param value the counter's value just after the change
   */
  record Applied(long value) implements Change {}

  /**
   * The change would have passed a bound, or did not find the expected value.
   *
   * @param value the counter's value, which includes the floor
   */
  record Refused(long value) implements Change {}

  /** Returns the counter's value when this was decided. */
  long value();

  /** Returns whether the change was applied: for a take, whether the amount is yours. */
  default boolean isApplied() {
    return this instanceof Applied;
  }
}
