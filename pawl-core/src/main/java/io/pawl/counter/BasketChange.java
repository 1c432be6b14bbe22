package io.pawl.counter;

import java.util.Map;

/** What became of {@code Pawl.tryTakeAll}: all of it was taken exactly once, or nothing at all. */
public sealed interface BasketChange {

  /**
   * All of it was taken.
   *
   * @param values the value of each counter just after
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

  /** The value of each counter when this was decided. */
  Map<String, Long> values();

  /** Whether all of it was taken. */
  default boolean isApplied() {
    return this instanceof Applied;
  }
}
