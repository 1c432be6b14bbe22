package io.pawl.counter;

import io.pawl.spi.Operation;

/**
 * A change of a counter for {@code Counter.update}. The factories throw {@link
 * IllegalArgumentException} for numbers outside ±(2<sup>53</sup> − 1). Immutable.
 */
public final class Update {

  private final Operation operation;

  private Update(Operation operation) {
    this.operation = operation;
  }

  /** Sets the value; refused outside the bounds. Open reservations stay open. */
  public static Update set(long value) {
    return new Update(new Operation.SetTo(value));
  }

  /** Sets the value if it is {@code expected}; refused otherwise, or outside the bounds. */
  public static Update compareAndSet(long expected, long value) {
    return new Update(new Operation.CompareAndSet(expected, value));
  }

  /**
   * Sets the bounds, which are part of the counter and apply to all clients. Refused if the value
   * is below the floor, or if the value and the reserved amount together are above the ceiling.
   *
   * @param floor the smallest value
   * @param ceiling the largest value, at least {@code floor}
   */
  public static Update bounds(long floor, long ceiling) {
    return new Update(new Operation.SetBounds(floor, ceiling));
  }

  /** Returns the operation that is sent to the store. */
  public Operation operation() {
    return operation;
  }

  @Override
  public String toString() {
    return operation.toString();
  }
}
