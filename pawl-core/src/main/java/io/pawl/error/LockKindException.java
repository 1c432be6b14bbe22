package io.pawl.error;

/**
 * A name was requested as the wrong kind: as a lock when it is a semaphore, as a semaphore when it
 * is a lock, or as a semaphore of another capacity. Nothing was taken. The first grant fixes the
 * kind of a name, and the store keeps it.
 */
public final class LockKindException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String lock;
  private final int capacity;

  /**
   * @param capacity the permits of the semaphore of this name, 0 if the name is a lock's
   * @param asked the permits of the semaphore that was requested, 0 for a lock
   */
  public LockKindException(String lock, int capacity, int asked) {
    super(
        "'"
            + lock
            + "' is a "
            + kind(capacity)
            + " and was asked for as a "
            + kind(asked)
            + advice(capacity, asked),
        null);
    this.lock = lock;
    this.capacity = capacity;
  }

  private static String kind(int capacity) {
    return capacity == 0 ? "lock" : "semaphore of " + capacity;
  }

  private static String advice(int capacity, int asked) {
    if (asked == 0) {
      return "; use another name, or open its store with Stores.open and change it with"
          + " Inspectable.setKind while nobody uses it";
    }
    return capacity == 0
        ? "; use another name, or make it one with changeCapacity while nobody uses it"
        : "; ask with the capacity that it has, or give it another with changeCapacity";
  }

  /** Returns the name. */
  public String lock() {
    return lock;
  }

  /** Returns the permits of the semaphore of this name, 0 if the name is a lock's. */
  public int capacity() {
    return capacity;
  }
}
