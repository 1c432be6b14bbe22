package io.pawl.redisson;

import io.pawl.JavaLock;
import io.pawl.error.StoreException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/**
 * A lock with the methods of Redisson's {@code RLock}. It belongs to the thread that took it and is
 * reentrant. Taken without a lease time it is renewed until it is unlocked; with one it ends after
 * that time, and nobody is told. {@code unlock} throws {@link IllegalMonitorStateException} where
 * this thread does not hold the lock, or not any more. Methods that ask the store throw {@link
 * StoreException} when it cannot be asked for longer than the client's patience, {@code tryLock}
 * when it has not answered 500 ms after its wait. Thread-safe.
 *
 * <p>{@link JavaLock} has what this lacks: the lease's validity, its loss, and its extension.
 */
public interface RLock extends Lock {

  /** Returns the lock's name. */
  String getName();

  /**
   * Waits for the lock, and keeps it for {@code leaseTime} at most.
   *
   * @param leaseTime 100 ms to 7 days; 0 or less for a lease that is renewed. That of a re-entry is
   *     ignored
   */
  void lock(long leaseTime, TimeUnit unit);

  /** As {@link #lock(long, TimeUnit)}, until interrupted. */
  void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException;

  /** Waits for at most {@code waitTime}, and keeps the lock as {@link #lock(long, TimeUnit)}. */
  boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException;

  /**
   * Takes the lock from whoever holds this side of it, who learns of it at the next renewal. Two
   * round trips. Returns whether anybody held it.
   */
  boolean forceUnlock();

  /** Returns whether anybody holds this side of the lock, as the store says. One round trip. */
  boolean isLocked();

  /** Returns whether this thread holds the lock under a lease that is valid. No round trip. */
  boolean isHeldByCurrentThread();

  /** Returns how many unlocks this thread owes; 0 once its lease was lost. */
  int getHoldCount();
}
