package io.pawl.spi;

/**
 * What a name stands for: a lock, held by exclusive and shared claims, or a semaphore with a number
 * of permits. The kind is part of the lock's state. The first grant fixes it; from then on the
 * answer to claims of another kind is {@link Standing.OtherKind}, until {@link Inspectable#setKind}
 * changes it or the store has forgotten the lock.
 *
 * @param capacity the permits of a semaphore, 1 to {@link Integer#MAX_VALUE}; 0 for a lock
 */
public record Kind(int capacity) {

  /** The kind of exclusive and shared claims. */
  public static final Kind LOCK = new Kind(0);

  private static final String SEMAPHORE = "semaphore of ";

  public Kind {
    if (capacity < 0) {
      throw new IllegalArgumentException("capacity: " + capacity + " is negative");
    }
  }

  /**
   * @throws IllegalArgumentException when {@code capacity} is not at least 1
   */
  public static Kind semaphore(int capacity) {
    if (capacity < 1) {
      throw new IllegalArgumentException(
          "capacity of a semaphore: " + capacity + " is not at least 1");
    }
    return new Kind(capacity);
  }

  public boolean isSemaphore() {
    return capacity > 0;
  }

  /** Returns whether claims of {@code mode} are for this kind. */
  public boolean takes(Mode mode) {
    return capacity == mode.capacity();
  }

  /** Parses what {@code toString} returns. */
  public static Kind parse(String text) {
    if (text.equals("lock")) {
      return LOCK;
    }
    if (text.startsWith(SEMAPHORE)) {
      return semaphore(Integer.parseInt(text.substring(SEMAPHORE.length())));
    }
    throw new IllegalArgumentException("kind: '" + text + "' is neither lock nor semaphore of <n>");
  }

  /** {@code lock} or {@code semaphore of 8}. */
  @Override
  public String toString() {
    return isSemaphore() ? SEMAPHORE + capacity : "lock";
  }
}
