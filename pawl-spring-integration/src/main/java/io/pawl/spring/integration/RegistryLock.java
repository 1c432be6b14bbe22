package io.pawl.spring.integration;

import io.pawl.JavaLock;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.springframework.integration.support.locks.DistributedLock;

/** A view of one lock. What a thread holds is kept by the client, by the lock's name. */
final class RegistryLock implements DistributedLock {

  private final Pawl pawl;
  private final LockOptions options;
  private final JavaLock lock;

  RegistryLock(Pawl pawl, String name, LockOptions options) {
    this.pawl = pawl;
    this.options = options;
    this.lock = pawl.lock(name, options).asJavaLock();
  }

  @Override
  public void lock() {
    lock.lock();
  }

  @Override
  public void lock(Duration timeToLive) {
    lasting(timeToLive).lock();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
  }

  @Override
  public boolean tryLock() {
    return lock.tryLock();
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return lock.tryLock(time, unit);
  }

  @Override
  public boolean tryLock(Duration wait, Duration timeToLive) throws InterruptedException {
    return lasting(timeToLive).tryLock(TimeUnit.NANOSECONDS.convert(wait), TimeUnit.NANOSECONDS);
  }

  @Override
  public void unlock() {
    try {
      lock.unlock();
    } catch (LeaseLostException e) {
      throw (ConcurrentModificationException)
          new ConcurrentModificationException(
                  e.getMessage() + "; what it protected may have been changed by another holder")
              .initCause(e);
    }
  }

  /** Whether this thread holds it under a lease that is valid. */
  boolean isValid() {
    return lock.isValid();
  }

  @Override
  public Condition newCondition() {
    return lock.newCondition();
  }

  private JavaLock lasting(Duration timeToLive) {
    LockOptions fixed = options.sticky(Duration.ZERO).lease(timeToLive).renewal(false);
    return pawl.lock(lock.name(), fixed).asJavaLock();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RegistryLock that
        && pawl == that.pawl
        && lock.name().equals(that.lock.name());
  }

  @Override
  public int hashCode() {
    return lock.name().hashCode();
  }

  @Override
  public String toString() {
    return lock.toString();
  }
}
