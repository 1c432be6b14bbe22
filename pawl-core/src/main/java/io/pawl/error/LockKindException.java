package io.pawl.error;

/**
 * A name was asked for as what it is not: as a lock where it is a semaphore, as a semaphore where
 * it is a lock, or as a semaphore of another capacity. Nothing was taken. The kind of a name is
 * settled by whoever uses it first and kept by the store.
 */
public final class LockKindException extends PawlException {

  private static final long serialVersionUID = 1;

  private final String lock;
  private final int capacity;

  /**
   * @param capacity the permits of the semaphore that it is, 0 if it is a lock
   * @param asked the same of what was asked for
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

  /** The name. */
  public String lock() {
    return lock;
  }

  /** The permits of the semaphore that it is, 0 if it is a lock. */
  public int capacity() {
    return capacity;
  }
}
