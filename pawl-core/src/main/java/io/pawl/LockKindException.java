package io.pawl;

import io.pawl.spi.Kind;

/**
 * A name was asked for as what it is not: as a lock where it is a semaphore, as a semaphore where
 * it is a lock, or as a semaphore of another capacity. Nothing was taken. The kind of a name is
 * settled by whoever uses it first and kept by the store.
 */
public final class LockKindException extends IllegalStateException {

  private static final long serialVersionUID = 1;

  private final String lock;
  private final int capacity;

  LockKindException(String lock, Kind kind, Kind asked) {
    super("'" + lock + "' is a " + kind + " and was asked for as a " + asked + advice(kind, asked));
    this.lock = lock;
    this.capacity = kind.capacity();
  }

  private static String advice(Kind kind, Kind asked) {
    if (!asked.isSemaphore()) {
      return "; use another name, or open its store with Stores.open and change it with"
          + " Inspectable.setKind while nobody uses it";
    }
    return kind.isSemaphore()
        ? "; ask with the capacity that it has, or give it another with changeCapacity"
        : "; use another name, or make it one with changeCapacity while nobody uses it";
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
