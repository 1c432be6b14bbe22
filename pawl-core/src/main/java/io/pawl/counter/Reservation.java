package io.pawl.counter;

import java.time.Instant;

/** The answer to {@link io.pawl.Counter#reserve}. */
public sealed interface Reservation {

  /**
   * It is set aside until {@link io.pawl.Counter#confirm}, {@link io.pawl.Counter#cancel} or its
   * deadline.
   *
   * @param left the counter's value just after
   * @param until its deadline by the store's clock; past, where this repeats an old answer
   */
  record Reserved(long left, Instant until) implements Reservation {}

  /**
   * It would have passed the floor.
   *
   * @param left the counter's value, of which the floor is part
   */
  record Refused(long left) implements Reservation {}

  /** The counter's value when this was decided. */
  long left();

  default boolean isReserved() {
    return this instanceof Reserved;
  }
}
