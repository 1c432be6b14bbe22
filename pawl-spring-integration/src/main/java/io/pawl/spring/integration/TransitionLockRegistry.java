package io.pawl.spring.integration;

import io.pawl.concurrent.BothLocks;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * Takes a lock of Pawl's and the application's old one, for the release in between: deploy it
 * everywhere first, and a release with {@link PawlLockRegistry} alone after it. Each release then
 * shares a lock with the one before.
 *
 * <p>Both are taken, or none; Pawl's first, so that one host of this release at a time asks the old
 * store. Times to live and renewal are those that the two registries were given. Thread-safe.
 */
public final class TransitionLockRegistry implements LockRegistry<Lock> {

  private final PawlLockRegistry pawl;
  private final LockRegistry<?> old;

  /**
   * @param old what the release before this one uses
   */
  public TransitionLockRegistry(PawlLockRegistry pawl, LockRegistry<?> old) {
    this.pawl = Objects.requireNonNull(pawl, "pawl");
    this.old = Objects.requireNonNull(old, "old");
  }

  /** Returns the lock of a key, a text. {@code unlock} leaves both, and throws what either does. */
  @Override
  public Lock obtain(Object key) {
    RegistryLock ours = pawl.lock(key);
    return new BothLocks(ours, old.obtain(key), ours::isValid);
  }

  @Override
  public String toString() {
    return "TransitionLockRegistry[" + pawl + ", " + old + "]";
  }
}
