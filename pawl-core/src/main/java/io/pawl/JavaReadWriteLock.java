package io.pawl;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * Both sides of a lock as a {@link ReadWriteLock} of {@code java.util.concurrent}. Obtained from
 * {@link DistributedReadWriteLock#asJavaReadWriteLock}; cheap and thread-safe.
 */
public final class JavaReadWriteLock implements ReadWriteLock {

  private final JavaLock readLock;
  private final JavaLock writeLock;

  JavaReadWriteLock(JavaLock readLock, JavaLock writeLock) {
    this.readLock = readLock;
    this.writeLock = writeLock;
  }

  @Override
  public JavaLock readLock() {
    return readLock;
  }

  @Override
  public JavaLock writeLock() {
    return writeLock;
  }

  @Override
  public String toString() {
    return "JavaReadWriteLock[" + readLock + ", " + writeLock + "]";
  }
}
