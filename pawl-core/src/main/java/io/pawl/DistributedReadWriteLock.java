package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A lock by name with two sides: readers hold it together, a writer alone. Obtained from {@link
 * Pawl#readWriteLock}; cheap, thread-safe, holds nothing. The writers' side is the {@link
 * DistributedLock} of the same name.
 *
 * <p>First come, first served across all clients: a reader that comes after a waiting writer waits
 * behind it, and a writer's release lets in the whole run of readers at the head of the line at
 * once, so that neither side starves. Unless in {@linkplain LockOptions#strictOrder strict order},
 * readers of one client join a reader of theirs without a round trip, while no writer of that
 * client waits and for no longer than {@link LockOptions#maxRun} after the store has let them in:
 * by so much may a writer elsewhere be overtaken.
 *
 * <p>Readers have tokens too. A resource that refuses smaller tokens than the largest it has seen
 * takes care of writes alone: a reader's token is larger than that of every writer before it and
 * smaller than that of every writer after it, but says nothing of other readers.
 *
 * <p>A writer becomes a reader by {@link Lease#downgrade}. A reader never becomes a writer, since
 * two that tried would wait for each other: close the lease and ask anew. Every request stands for
 * itself; a thread that holds a reader's lease and asks for another may wait behind a writer that
 * waits for it. {@link #asJavaReadWriteLock} is reentrant.
 */
public final class DistributedReadWriteLock {

  private final DistributedLock readLock;
  private final DistributedLock writeLock;

  DistributedReadWriteLock(
      Engine engine, String name, LockOptions options, ReentrantHolds threads) {
    this.readLock = new DistributedLock(engine, name, options, Mode.SHARED, threads);
    this.writeLock = new DistributedLock(engine, name, options, Mode.EXCLUSIVE, threads);
  }

  /** The lock's name. */
  public String name() {
    return writeLock.name();
  }

  /** For readers. Its leases are {@linkplain Lease#isShared shared}. */
  public DistributedLock readLock() {
    return readLock;
  }

  /** For writers. */
  public DistributedLock writeLock() {
    return writeLock;
  }

  /**
   * The same lock as a {@link ReadWriteLock} of {@code java.util.concurrent}, as {@link
   * DistributedLock#asJavaLock} says. A thread that writes may read as well, under the same lease;
   * if it stops writing first, it becomes a reader without a gap. A thread that reads and asks to
   * write is thrown {@link IllegalStateException}, where {@code java.util.concurrent} would let it
   * wait for itself for ever; its {@code tryLock} is answered false.
   */
  public JavaReadWriteLock asJavaReadWriteLock() {
    return new JavaReadWriteLock(readLock.asJavaLock(), writeLock.asJavaLock());
  }

  @Override
  public String toString() {
    return "DistributedReadWriteLock[" + readLock + ", " + writeLock + "]";
  }
}
