package io.pawl.redisson;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** A lock that is taken with a lease time, as one that is taken without. */
final class LeasedLock implements Lock {

  /** Waits until it is taken, or interrupted. */
  interface Taking {
    void take() throws InterruptedException;
  }

  /** Waits for so many nanoseconds at most. */
  interface Trying {
    boolean take(long nanos) throws InterruptedException;
  }

  private final Lock lock;
  private final Runnable taking;
  private final Taking interruptibly;
  private final Trying trying;

  LeasedLock(Lock lock, Runnable taking, Taking interruptibly, Trying trying) {
    this.lock = lock;
    this.taking = taking;
    this.interruptibly = interruptibly;
    this.trying = trying;
  }

  @Override
  public void lock() {
    taking.run();
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    interruptibly.take();
  }

  @Override
  public boolean tryLock() {
    throw new UnsupportedOperationException("a lease time goes with a wait");
  }

  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    return trying.take(unit.toNanos(time));
  }

  @Override
  public void unlock() {
    lock.unlock();
  }

  @Override
  public Condition newCondition() {
    return lock.newCondition();
  }
}
