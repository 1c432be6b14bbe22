package io.pawl.counter;

import java.time.Instant;

/** The result of {@code Counter.reserve}. */
public sealed interface Reservation {

  /**
   * The amount is set aside until {@code Counter.confirm}, {@code Counter.cancel} or the deadline.
   *
   * @param value the counter's value just after the reservation
   * @param until the deadline by the store's clock; in the past if this repeats an old answer
   */
  record Reserved(long value, Instant until) implements Reservation {}

  /**
   * The reservation would have passed the floor.
   *
   * @param value the counter's value, which includes the floor
   */
  record Refused(long value) implements Reservation {}

  /** Returns the counter's value when this was decided. */
  long value();

  default boolean isReserved() {
    return this instanceof Reserved;
  }
}
