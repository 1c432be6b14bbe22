package io.pawl.counter;

import java.util.Map;

/** The answer to {@code Pawl.tryTakeAll}: everything was taken exactly once, or nothing at all. */
public sealed interface TakeAll {

  /**
   * All of it was taken.
   *
   * @param left the value of each counter just after
   */
  record Taken(Map<String, Long> left) implements TakeAll {
    public Taken {
      left = Map.copyOf(left);
    }
  }

  /**
   * At least one counter would have passed its floor.
   *
   * @param left the value of each counter
   */
  record Refused(Map<String, Long> left) implements TakeAll {
    public Refused {
      left = Map.copyOf(left);
    }
  }

  /** The value of each counter when this was decided. */
  Map<String, Long> left();

  default boolean isTaken() {
    return this instanceof Taken;
  }
}
