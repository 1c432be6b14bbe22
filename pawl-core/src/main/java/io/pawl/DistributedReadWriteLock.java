package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock by name with two sides: readers hold it together, a writer alone. Obtained from {@link
 * Pawl#readWriteLock}. The object is cheap and thread-safe, and holds nothing itself. The writers'
 * side is the {@link DistributedLock} of the same name.
 *
 * <p>First come, first served across all clients: a reader that comes after a waiting writer waits
 * behind it, and a writer's release lets in the whole run of readers at the head of the queue at
 * once. So neither side starves. Except in {@linkplain LockOptions#strictOrder strict order},
 * readers of one client join a reader of that client without a round trip while no writer of that
 * client waits, and for no longer than {@link LockOptions#maxRun} after the store has let the first
 * one in. A writer elsewhere may be overtaken by so much.
 *
 * <p>Readers have tokens too. A reader's token is larger than that of every writer before it and
 * smaller than that of every writer after it, but says nothing about other readers. A resource that
 * refuses smaller tokens than the largest it has seen therefore takes care of writes alone.
 *
 * <p>A writer becomes a reader by {@link Lease#downgrade}. A reader never becomes a writer, since
 * two that tried would wait for each other: close the lease and ask anew. Requests are not
 * reentrant: a thread that holds a reader's lease and asks for another may wait behind a writer
 * that waits for it. {@link #asJavaReadWriteLock} is reentrant.
 */
public final class DistributedReadWriteLock {

  private final DistributedLock readLock;
  private final DistributedLock writeLock;

  DistributedReadWriteLock(
      Engine engine, String name, LockOptions options, ReentrantHolds threads) {
    DistributedLock.refuseSticky(options, "read-write lock", name);
    this.readLock = new DistributedLock(engine, name, options, Mode.SHARED, threads);
    this.writeLock = new DistributedLock(engine, name, options, Mode.EXCLUSIVE, threads);
  }

  /** Returns the lock's name. */
  public String name() {
    return writeLock.name();
  }

  /** Returns the readers' side. Its leases are {@linkplain Lease#isShared shared}. */
  public DistributedLock readLock() {
    return readLock;
  }

  /** Returns the writers' side. */
  public DistributedLock writeLock() {
    return writeLock;
  }

  /**
   * Returns the same lock as a {@link ReadWriteLock} of {@code java.util.concurrent}, as described
   * for {@link DistributedLock#asJavaLock}. A thread that writes may read as well, under the same
   * lease; if it stops writing first, it becomes a reader without a gap. A thread that reads and
   * asks to write gets an {@link IllegalStateException}, where {@code java.util.concurrent} would
   * let it wait for itself for ever; its {@code tryLock} returns false.
   */
  public JavaReadWriteLock asJavaReadWriteLock() {
    return new JavaReadWriteLock(readLock.asJavaLock(), writeLock.asJavaLock());
  }

  @Override
  public String toString() {
    return "DistributedReadWriteLock[" + readLock + ", " + writeLock + "]";
  }
}
