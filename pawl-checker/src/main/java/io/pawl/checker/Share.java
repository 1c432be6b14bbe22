package io.pawl.checker;

/**
 * How much of a lock a lease has.
 *
 * @param units 1 to {@code capacity}
 * @param capacity how many units there are; leases of one lock may be valid at once up to this
 */
public record Share(int units, int capacity) {

  /** All of it: a lock, or a writer's. */
  public static final Share EXCLUSIVE = new Share(Integer.MAX_VALUE, Integer.MAX_VALUE);

  /** A reader's. */
  public static final Share SHARED = new Share(1, Integer.MAX_VALUE);

  public Share {
    if (units < 1 || units > capacity) {
      throw new IllegalArgumentException(units + " of " + capacity + " units");
    }
  }

  /** Makes a share of a semaphore. */
  public static Share permits(int some, int capacity) {
    return new Share(some, capacity);
  }

  public boolean isExclusive() {
    return units == capacity;
  }

  /** Returns whether it is of a semaphore, whose tokens are unique and no more. */
  public boolean isPermits() {
    return capacity != Integer.MAX_VALUE;
  }
}
