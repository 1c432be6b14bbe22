package io.pawl.redisson;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A lock with the methods of Redisson's {@code RFencedLock}. Every lock of Pawl's has tokens. */
public interface RFencedLock extends RLock {

  /**
   * Returns the token of this thread's lease; without one, the largest that the store has granted,
   * null where it knows none, by a round trip.
   */
  @Nullable Long getToken();

  /** As {@link #lock()}; returns the token, which is larger than all before it. */
  Long lockAndGetToken();

  /** As {@link #lock(long, TimeUnit)}; returns the token. */
  Long lockAndGetToken(long leaseTime, TimeUnit unit);

  /** As {@link #tryLock()}; returns the token, or null. */
  @Nullable Long tryLockAndGetToken();

  /** As {@link #tryLock(long, TimeUnit)}, but that an interrupt is kept; the token, or null. */
  @Nullable Long tryLockAndGetToken(long waitTime, TimeUnit unit);

  /** As {@link #tryLock(long, long, TimeUnit)}, but that an interrupt is kept. */
  @Nullable Long tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit);
}
