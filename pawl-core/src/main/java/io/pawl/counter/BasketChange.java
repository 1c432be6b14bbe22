package io.pawl.counter;

import java.util.Map;

/** The result of {@code Pawl.tryTakeAll}: everything was taken exactly once, or nothing at all. */
public sealed interface BasketChange {

  /**
   * Everything was taken.
   *
   * @param values the value of each counter just after the change
   */
  record Applied(Map<String, Long> values) implements BasketChange {
    public Applied {
      values = Map.copyOf(values);
    }
  }

  /**
   * At least one counter would have passed its floor.
   *
   * @param values the value of each counter
   */
  record Refused(Map<String, Long> values) implements BasketChange {
    public Refused {
      values = Map.copyOf(values);
    }
  }

  /** Returns the value of each counter when this was decided. */
  Map<String, Long> values();

  /** Returns whether everything was taken. */
  default boolean isApplied() {
    return this instanceof Applied;
  }
}
