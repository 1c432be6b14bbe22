package io.pawl.redisson;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.util.List;
import java.util.Objects;

/**
 * Locks, semaphores and numbers on any of Pawl's stores with the methods of Redisson's.
 * docs/REDISSON.md says what is alike and what is not. Make one and share it: it has the permits
 * that were acquired. Thread-safe. Whoever made the client closes it.
 */
public final class PawlRedisson {

  private final Pawl pawl;
  private final LockOptions options;
  private final HeldPermits permits = new HeldPermits();
  private final LeftToEnd leftToEnd = new LeftToEnd();

  private PawlRedisson(Pawl pawl, LockOptions options) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.options = Objects.requireNonNull(options, "options");
  }

  /** Locks with the {@linkplain LockOptions#defaults default options}: a lease of 30 s, renewed. */
  public static PawlRedisson over(Pawl pawl) {
    return over(pawl, LockOptions.defaults());
  }

  /**
   * @param options how locks are held that are taken without a lease time
   */
  public static PawlRedisson over(Pawl pawl, LockOptions options) {
    return new PawlRedisson(pawl, options);
  }

  /** Returns a lock. No round trip. */
  public RLock getLock(String name) {
    return getFencedLock(name);
  }

  /** Returns a lock that is served in the order of requests, across all clients. */
  public RLock getFairLock(String name) {
    return locked(name, options.strictOrder());
  }

  /** Returns a lock. Every lock of Pawl's has tokens. */
  public RFencedLock getFencedLock(String name) {
    return locked(name, options);
  }

  private PawlRLock locked(String name, LockOptions usual) {
    return new PawlRLock(pawl, name, usual, leftToEnd, false);
  }

  /** Returns a read-write lock. A name is one lock: its write side is {@link #getLock}'s. */
  public RReadWriteLock getReadWriteLock(String name) {
    RLock reads = new PawlRLock(pawl, name, options, leftToEnd, true);
    RLock writes = new PawlRLock(pawl, name, options, leftToEnd, false);
    return new RReadWriteLock() {
      @Override
      public RLock readLock() {
        return reads;
      }

      @Override
      public RLock writeLock() {
        return writes;
      }

      @Override
      public String toString() {
        return "RReadWriteLock[" + name + "]";
      }
    };
  }

  /**
   * Returns several locks as one: all are taken, or none. They are taken in the order of their
   * names, and of their stores' addresses where names are alike, each by a trip of its own; {@link
   * Pawl#lockAll} takes them in one. Of a multi-lock among them each lock has its own place. A
   * lease time begins once the last is taken: for those of which a sixteenth has passed by then at
   * the cost of another trip each.
   *
   * @throws IllegalArgumentException for no lock
   */
  public RLock getMultiLock(RLock... locks) {
    return new MultiRLock(List.of(locks));
  }

  /** Returns a semaphore. No round trip. */
  public RSemaphore getSemaphore(String name) {
    return new PawlRSemaphore(new PermitSource(pawl, name, options), permits);
  }

  /**
   * Returns a semaphore whose permits have ids. No round trip. Threads pass no permits among
   * themselves: the store would have both under one claim, and an old id would end the new one.
   */
  public RPermitExpirableSemaphore getPermitExpirableSemaphore(String name) {
    return new PawlRPermitSemaphore(new PermitSource(pawl, name, options.strictOrder()), permits);
  }

  /** Returns a number. No round trip. Its name is no lock's. */
  public RAtomicLong getAtomicLong(String name) {
    return new PawlRAtomicLong(pawl.counter(name));
  }

  @Override
  public String toString() {
    return "PawlRedisson[" + pawl + "]";
  }
}
