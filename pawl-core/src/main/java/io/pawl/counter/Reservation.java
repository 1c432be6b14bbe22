package io.pawl.counter;

import java.time.Instant;

/** The answer to {@code Counter.reserve}. */
public sealed interface Reservation {

  /**
   * It is set aside until {@code Counter.confirm}, {@code Counter.cancel} or its deadline.
   *
   * @param value the counter's value just after
   * @param until its deadline by the store's clock; past, where this repeats an old answer
   */
  record Reserved(long value, Instant until) implements Reservation {}

  /**
   * It would have passed the floor.
   *
   * @param value the counter's value, of which the floor is part
   */
  record Refused(long value) implements Reservation {}

  /** The counter's value when this was decided. */
  long value();

  default boolean isReserved() {
    return this instanceof Reserved;
  }
}
