package io.pawl.redisson;

import io.pawl.Lease;
import io.pawl.error.LeaseLostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Permits of this process: each acquire is a lease, which any thread gives back. */
final class PawlRSemaphore implements RSemaphore {

  private final PermitSource source;
  private final HeldPermits held;

  PawlRSemaphore(PermitSource source, HeldPermits held) {
    this.source = source;
    this.held = held;
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
  public void acquire() throws InterruptedException {
    acquire(1);
  }

  @Override
  public void acquire(int permits) throws InterruptedException {
    taken(
        source.take(source.usual(), permits, semaphore -> Optional.of(semaphore.acquire(permits))));
  }

  private boolean taken(Optional<Lease> lease) {
    lease.ifPresent(held::add);
    return lease.isPresent();
  }

  @Override
  public boolean tryAcquire() {
    return tryAcquire(1);
  }

  @Override
  public boolean tryAcquire(int permits) {
    return taken(source.takeAtOnce(source.usual(), permits));
  }

  @Override
  public boolean tryAcquire(long waitTime, TimeUnit unit) throws InterruptedException {
    return tryAcquire(1, waitTime, unit);
  }

  @Override
  public boolean tryAcquire(int permits, long waitTime, TimeUnit unit) throws InterruptedException {
    Duration wait = Duration.ofNanos(Math.max(0, unit.toNanos(waitTime)));
    return taken(
        source.take(source.usual(), permits, semaphore -> semaphore.tryAcquire(permits, wait)));
  }

  @Override
  public void release() {
    release(1);
  }

  @Override
  public void release(int permits) {
    List<Lease> leases = held.remove(getName(), permits);
    if (leases.isEmpty()) {
      throw new IllegalStateException(
          "semaphore '"
              + getName()
              + "': this process has no permits that add up to "
              + permits
              + "; release as many as were acquired together");
    }
    LeaseLostException loss = null;
    for (Lease lease : leases) {
      loss = closed(lease, loss);
    }
    if (loss != null) {
      throw loss;
    }
  }

  private static @Nullable LeaseLostException closed(
      Lease lease, @Nullable LeaseLostException before) {
    try {
      lease.close();
      return before;
    } catch (LeaseLostException e) {
      if (before == null) {
        return e;
      }
      before.addSuppressed(e);
      return before;
    }
  }

  @Override
  public int availablePermits() {
    return source.available();
  }

  @Override
  public String toString() {
    return "RSemaphore[" + getName() + "]";
  }
}
