package io.pawl.redisson;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A semaphore whose permits have ids, with the methods of Redisson's {@code
 * RPermitExpirableSemaphore} that Pawl can keep. A permit that is taken with a lease time ends
 * after it. One that is taken without is renewed by its process until it is released, and comes
 * back after a lease where that died. Any process may release a permit by its id: the holder's
 * process learns of it at its next renewal. Thread-safe.
 *
 * <p>It has permits once {@link #trySetPermits} gave it some, as an {@link RSemaphore}; the two are
 * one where they have one name.
 */
public interface RPermitExpirableSemaphore {

  /** Returns the semaphore's name. */
  String getName();

  /** As {@link RSemaphore#trySetPermits}. */
  boolean trySetPermits(int permits);

  /** Waits for a permit. Returns its id: its fencing token, as digits. */
  String acquire() throws InterruptedException;

  /**
   * As {@link #acquire()}; the permit ends after {@code leaseTime}.
   *
   * @param leaseTime 100 ms to 7 days; 0 or less for a permit that is renewed
   */
  String acquire(long leaseTime, TimeUnit unit) throws InterruptedException;

  /** Takes a permit if one is free and nobody waits; null otherwise. */
  @Nullable String tryAcquire();

  /** Waits for a permit for at most {@code waitTime}; null where there was none. */
  @Nullable String tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException;

  /**
   * As {@link #tryAcquire(long, TimeUnit)}, with the lease time of {@link #acquire(long,
   * TimeUnit)}.
   */
  @Nullable String tryAcquire(long waitTime, long leaseTime, TimeUnit unit)
      throws InterruptedException;

  /** Gives a permit back. Returns false where it had ended before, or never was. One round trip. */
  boolean tryRelease(String permitId);

  /**
   * As {@link #tryRelease}.
   *
   * @throws IllegalArgumentException where the permit had ended before, or never was
   */
  void release(String permitId);

  /** As {@link RSemaphore#availablePermits}. */
  int availablePermits();
}
