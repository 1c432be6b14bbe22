package io.pawl.bench.rival;

/** One way to exclude others, measured beside the others of its contest. */
public interface Rival {

  /** As it stands in the table; unique within its suite. */
  String name();

  /** Why it cannot be measured here, empty if it can. */
  default String missing() {
    return "";
  }

  /** Connects this JVM to the store at {@code address}, before anything is timed. */
  Client connect(String address);

  /** One JVM's connection. */
  interface Client extends AutoCloseable {

    /** The lock {@code name} for the calling thread alone, made before anything is timed. */
    Turn lock(String name);

    /** As {@link #lock}, to share it with others who read, for loads that have readers. */
    default Turn readLock(String name) {
      throw new UnsupportedOperationException("no reading of " + name);
    }

    @Override
    default void close() {}
  }

  /** One thread's way through one lock. */
  interface Turn extends AutoCloseable {

    /** Waits for the lock. Answers the fencing token, 0 where the rival has none. */
    long acquire() throws InterruptedException;

    /** Gives it back and returns when that is certain. */
    void release();

    @Override
    default void close() {}
  }
}
