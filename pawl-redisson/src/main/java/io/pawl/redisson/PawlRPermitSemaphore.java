package io.pawl.redisson;

import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Permits by their tokens: closed by the process that has the lease, evicted by others. */
final class PawlRPermitSemaphore implements RPermitExpirableSemaphore {

  private final PermitSource source;
  private final HeldPermits held;

  PawlRPermitSemaphore(PermitSource source, HeldPermits held) {
    this.source = source;
    this.held = held;
  }

  private LockOptions kept(long leaseTime, TimeUnit unit) {
    return leaseTime <= 0
        ? source.usual()
        : source.usual().lease(Duration.ofNanos(unit.toNanos(leaseTime))).renewal(false);
  }

  private @Nullable String id(Optional<Lease> taken) {
    if (taken.isEmpty()) {
      return null;
    }
    Lease lease = taken.get();
    held.add(lease);
    lease.onLost(() -> held.remove(lease));
    return Long.toString(lease.token());
  }

  @Override
  public String getName() {
    return source.name();
  }

  @Override
  public boolean trySetPermits(int permits) {
    return source.trySet(permits);
  }

  @Override
  public String acquire() throws InterruptedException {
    return acquire(0, TimeUnit.MILLISECONDS);
  }

  @Override
  public String acquire(long leaseTime, TimeUnit unit) throws InterruptedException {
    Optional<Lease> taken =
        source.take(kept(leaseTime, unit), 1, semaphore -> Optional.of(semaphore.acquire(1)));
    String id = id(taken);
    if (id == null) {
      throw new AssertionError("a wait without end has ended");
    }
    return id;
  }

  @Override
  public @Nullable String tryAcquire() {
    return id(source.takeAtOnce(source.usual(), 1));
  }

  @Override
  public @Nullable String tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException {
    return tryAcquire(waitTime, 0, unit);
  }

  @Override
  public @Nullable String tryAcquire(long waitTime, long leaseTime, TimeUnit unit)
      throws InterruptedException {
    Duration wait = Duration.ofNanos(Math.max(0, unit.toNanos(waitTime)));
    return id(source.take(kept(leaseTime, unit), 1, semaphore -> semaphore.tryAcquire(1, wait)));
  }

  @Override
  public boolean tryRelease(String permitId) {
    long token = token(permitId);
    if (token <= 0) {
      return false;
    }
    Lease lease = held.remove(getName(), token);
    if (lease == null) {
      return source.evict(token);
    }
    try {
      lease.close();
      return true;
    } catch (LeaseLostException e) {
      return false;
    }
  }

  private static long token(String permitId) {
    try {
      return Long.parseLong(permitId);
    } catch (NumberFormatException e) {
      return 0; // of nobody's
    }
  }

  @Override
  public void release(String permitId) {
    if (!tryRelease(permitId)) {
      throw new IllegalArgumentException(
          "semaphore '"
              + getName()
              + "' has no permit '"
              + permitId
              + "': it has ended, or never was");
    }
  }

  @Override
  public int availablePermits() {
    return source.available();
  }

  @Override
  public String toString() {
    return "RPermitExpirableSemaphore[" + getName() + "]";
  }
}
