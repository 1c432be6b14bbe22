package io.pawl.redisson;

import java.util.Objects;
import org.redisson.api.RedissonClient;

/**
 * Takes a lock of Pawl's and Redisson's own, for the release in between: deploy it everywhere
 * first, and a release with {@link PawlRedisson} alone after it. Each release then shares a lock
 * with the one before. Both locks are taken, or none; Pawl's first. Needs Redisson. Thread-safe.
 */
public final class TransitionRedisson {

  private final PawlRedisson pawl;
  private final RedissonClient old;
  private final Entries entries = new Entries();

  /**
   * @param old what the release before this one uses
   */
  public TransitionRedisson(PawlRedisson pawl, RedissonClient old) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.old = Objects.requireNonNull(old, "old");
  }

  private RLock both(RLock ours, org.redisson.api.RLock theirs, String kind) {
    return new BothRLocks(ours, theirs, entries, kind + ' ' + ours.getName());
  }

  /** Returns both locks of this name as one. */
  public RLock getLock(String name) {
    return both(pawl.getLock(name), old.getLock(name), "lock");
  }

  /** Returns both fair locks of this name as one. */
  public RLock getFairLock(String name) {
    return both(pawl.getFairLock(name), old.getFairLock(name), "fair");
  }

  /** Returns both read-write locks of this name as one. */
  public RReadWriteLock getReadWriteLock(String name) {
    RReadWriteLock ours = pawl.getReadWriteLock(name);
    org.redisson.api.RReadWriteLock theirs = old.getReadWriteLock(name);
    RLock reads = both(ours.readLock(), theirs.readLock(), "read");
    RLock writes = both(ours.writeLock(), theirs.writeLock(), "write");
    return new RReadWriteLock() {
      @Override
      public RLock readLock() {
        return reads;
      }

      @Override
      public RLock writeLock() {
        return writes;
      }
    };
  }
}
