package io.pawl.lab.chaos.rival;

/** A lock of another library, which one thread takes and gives back once. */
public interface RivalLock {

  /** What the library said of a release. */
  enum End {
    RELEASED,
    /** It was lost before. */
    LOST,
    /** The store has not said. */
    UNCONFIRMED
  }

  /** Waits; returns whether it was granted, false where the store failed the request. */
  boolean acquire() throws InterruptedException;

  /** The same by the call that the library has for those who may be interrupted. */
  default boolean acquireInterruptibly() throws InterruptedException {
    return acquire();
  }

  /** Returns whether it was granted within that time; a library that has no waits tries once. */
  boolean tryFor(long millis) throws InterruptedException;

  /** Returns whether it is held still, by the best that the library can tell. */
  boolean isHeld();

  End release();

  /** Returns the fencing token of what was granted, 0 where the library has none. */
  default long token() {
    return 0;
  }
}
