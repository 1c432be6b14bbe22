package io.pawl.spring.integration;

import io.pawl.JavaLock;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Objects;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's lock registry on a store of Pawl's: for aggregators, resequencers, leader
 * initiators, and code that takes a lock from a {@code LockRegistry}.
 *
 * <p>A lock belongs to the thread that took it and is reentrant. While it is held its lease is
 * renewed, without a scheduler. A lock that is taken with a time to live is not renewed: it ends
 * after that time, unless {@link #renewLock} prolongs it. The lock has the prefix and the key as
 * its name, so Pawl's commands and other locks see it.
 *
 * <p>Thread-safe. The registry remembers no locks and has no thread. Whoever made the client closes
 * it.
 */
public final class PawlLockRegistry
    implements RenewableLockRegistry<DistributedLock>, ExpirableLockRegistry<DistributedLock> {

  private final Pawl pawl;
  private final String prefix;
  private final LockOptions options;

  /** Locks under their keys, with the {@linkplain LockOptions#defaults default options}. */
  public PawlLockRegistry(Pawl pawl) {
    this(pawl, "", LockOptions.defaults());
  }

  /**
   * @param prefix stands before each key in the lock's name: for applications that share a store
   * @param options how locks without a time to live of their own are held
   */
  public PawlLockRegistry(Pawl pawl, String prefix, LockOptions options) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.prefix = Objects.requireNonNull(prefix, "prefix");
    this.options = Objects.requireNonNull(options, "options");
  }

  /**
   * Returns the lock of a key. No round trip. Its methods throw what {@link JavaLock}'s throw, a
   * {@link StoreException} for instance where the store cannot be asked, but:
   *
   * <ul>
   *   <li>{@code unlock} throws {@link java.util.ConcurrentModificationException} when the lease
   *       was lost before, as Spring Integration's own locks do: somebody else may have held the
   *       lock meanwhile. The lock is left all the same.
   *   <li>A time to live is 100 ms to 7 days. That of a re-entry is ignored.
   * </ul>
   *
   * @param key a text; with the prefix {@linkplain Pawl#lock a lock's name}
   * @throws IllegalArgumentException for another key
   */
  @Override
  public DistributedLock obtain(Object key) {
    return lock(key);
  }

  RegistryLock lock(Object key) {
    return new RegistryLock(pawl, name(key), options);
  }

  /**
   * Prolongs the lock of {@code key}, held by this thread, so that it lasts for its usual lease
   * from now at least. One round trip.
   *
   * @throws IllegalMonitorStateException when this thread does not hold it
   * @throws IllegalStateException when its lease was lost
   * @throws StoreException when the store cannot be asked: the lock lasts as long as before
   */
  @Override
  public void renewLock(Object key) {
    renewLock(key, options.lease());
  }

  /**
   * Prolongs the lock of {@code key}, held by this thread, so that it lasts for {@code timeToLive}
   * from now at least; it never shortens it. One round trip at least.
   *
   * @throws IllegalArgumentException for zero or a negative time
   * @throws IllegalMonitorStateException when this thread does not hold it
   * @throws IllegalStateException when its lease was lost
   * @throws StoreException when the store cannot be asked: the lock lasts as long as before
   */
  @Override
  public void renewLock(Object key, Duration timeToLive) {
    JavaLock lock = pawl.lock(name(key), options).asJavaLock();
    try {
      lock.extend(timeToLive);
    } catch (LeaseLostException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /** Does nothing: the registry remembers no locks. */
  @Override
  public void expireUnusedOlderThan(long age) {}

  private String name(Object key) {
    if (!(key instanceof String)) {
      throw new IllegalArgumentException(
          "lock key has to be a String, was "
              + (key == null ? "null" : "a " + key.getClass().getName())
              + "; turn it into a text that is the same on every host");
    }
    return prefix + key;
  }

  @Override
  public String toString() {
    return "PawlLockRegistry[" + pawl + "]";
  }
}
