package io.pawl.redisson;

import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock for many readers or one writer, with the methods of Redisson's. A writer may take the read
 * lock too and go on as a reader; a reader cannot become a writer.
 */
public interface RReadWriteLock extends ReadWriteLock {

  @Override
  RLock readLock();

  @Override
  RLock writeLock();
}
