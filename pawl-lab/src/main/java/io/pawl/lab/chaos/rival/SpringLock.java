package io.pawl.lab.chaos.rival;

import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import org.springframework.core.NestedRuntimeException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A lock of a registry of Spring Integration. A holder is told of no loss, and the only public
 * question whether it holds still is a renewal.
 */
final class SpringLock implements RivalLock {

  private final RenewableLockRegistry<DistributedLock> registry;
  private final String name;
  private final DistributedLock lock;

  SpringLock(RenewableLockRegistry<DistributedLock> registry, String name) {
    this.registry = registry;
    this.name = name;
    this.lock = registry.obtain(name);
  }

  @Override
  public boolean acquire() throws InterruptedException {
    try {
      lock.lockInterruptibly();
      return true;
    } catch (NestedRuntimeException e) {
      return false;
    }
  }

  @Override
  public boolean tryFor(long millis) throws InterruptedException {
    try {
      return lock.tryLock(millis, TimeUnit.MILLISECONDS);
    } catch (NestedRuntimeException e) {
      return false;
    }
  }

  @Override
  public boolean isHeld() {
    try {
      registry.renewLock(name);
      return true;
    } catch (IllegalStateException | IllegalMonitorStateException | NestedRuntimeException e) {
      return false;
    }
  }

  @Override
  public End release() {
    try {
      lock.unlock();
      return End.RELEASED;
    } catch (ConcurrentModificationException
        | IllegalStateException
        | IllegalMonitorStateException e) {
      return End.LOST;
    } catch (NestedRuntimeException e) {
      return End.UNCONFIRMED;
    }
  }
}
