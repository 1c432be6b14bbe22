package io.pawl.redisson;

import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A semaphore with the methods of Redisson's {@code RSemaphore} that Pawl can keep. A permit
 * belongs to the process that acquired it, and is renewed there until any of its threads releases
 * it: the permits of a process that died come back after a lease. Served in the order of requests.
 * Thread-safe.
 *
 * <p>A semaphore has permits once {@link #trySetPermits} gave it some, in any process; until then
 * an acquire throws {@link IllegalStateException}. Redis forgets them, 10 minutes after the last
 * use at the earliest; an object that has set or used them goes on with what it knows.
 */
public interface RSemaphore {

  /** Returns the semaphore's name. */
  String getName();

  /**
   * Gives the semaphore its permits, if it has none yet. Returns whether this call did; of several
   * at the same moment that name the same number, each may be told so.
   *
   * @param permits at least 1
   * @throws StoreUnavailableException where the store has not answered within 500 ms: it may have
   *     them all the same, and a repetition then returns false
   */
  boolean trySetPermits(int permits);

  /** Waits for a permit. */
  void acquire() throws InterruptedException;

  /**
   * Waits for so many permits, and takes them together.
   *
   * @throws IllegalArgumentException for more than the semaphore has
   */
  void acquire(int permits) throws InterruptedException;

  /** Takes a permit if one is free and nobody waits. */
  boolean tryAcquire();

  /** As {@link #tryAcquire()}, so many permits together. */
  boolean tryAcquire(int permits);

  /** Waits for a permit for at most {@code waitTime}. */
  boolean tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException;

  /** Waits for so many permits for at most {@code waitTime}. */
  boolean tryAcquire(int permits, long waitTime, TimeUnit unit) throws InterruptedException;

  /** Waits for a permit for at most {@code waitTime}. */
  default boolean tryAcquire(Duration waitTime) throws InterruptedException {
    return tryAcquire(1, waitTime);
  }

  /** Waits for so many permits for at most {@code waitTime}. */
  default boolean tryAcquire(int permits, Duration waitTime) throws InterruptedException {
    return tryAcquire(permits, TimeUnit.NANOSECONDS.convert(waitTime), TimeUnit.NANOSECONDS);
  }

  /** Gives back a permit that this process has. */
  void release();

  /**
   * Gives back so many permits that this process has: those that were acquired together are given
   * back together.
   *
   * @throws IllegalStateException where this process has no permits that add up to so many, counted
   *     from the newest on; nothing is given back
   * @throws LeaseLostException where a permit was lost before; the others are given back
   */
  void release(int permits);

  /** Returns how many permits are free, as the store says; 0 where it has none. One round trip. */
  int availablePermits();
}
