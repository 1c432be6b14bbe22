package io.pawl.redisson;

import io.pawl.DistributedSemaphore;
import io.pawl.Lease;
import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.error.LockKindException;
import io.pawl.options.LockOptions;
import io.pawl.spi.LockName;
import java.util.Optional;

/**
 * A semaphore of Pawl's whose number of permits only the store knows: asked for once, and again
 * when another process has changed it.
 */
final class PermitSource {

  /** How often others may change the number while one request is made. */
  private static final int MOST_CHANGES = 16;

  private final Pawl pawl;
  private final String name;
  private final LockOptions usual;
  private volatile int capacity;

  /** A request for permits. */
  interface Request {
    Optional<Lease> of(DistributedSemaphore semaphore) throws InterruptedException;
  }

  PermitSource(Pawl pawl, String name, LockOptions usual) {
    this.pawl = pawl;
    this.name = LockName.check(name);
    this.usual = usual;
  }

  String name() {
    return name;
  }

  LockOptions usual() {
    return usual;
  }

  /** Returns whether this call made the semaphore. */
  boolean trySet(int permits) {
    if (pawl.inspect(name).capacity() > 0) {
      return false;
    }
    try {
      Optional<Lease> first = pawl.semaphore(name, permits).tryAcquire(1); // it fixes the number
      if (first.isEmpty()) {
        return false; // another process was faster, and has them all
      }
      first.get().close();
    } catch (LockKindException e) {
      if (pawl.inspect(name).capacity() > 0) {
        return false; // another process was faster
      }
      throw e;
    }
    capacity = permits;
    return true;
  }

  /**
   * @param permits how many are asked for: where that is more than are known of, there may be more
   *     by now
   */
  Optional<Lease> take(LockOptions options, int permits, Request request)
      throws InterruptedException {
    int known = capacity >= Math.max(1, permits) ? capacity : asked();
    for (int changes = 0; ; changes++) {
      try {
        return request.of(pawl.semaphore(name, known, options));
      } catch (LockKindException e) {
        int now = pawl.inspect(name).capacity();
        if (now == 0 || changes == MOST_CHANGES) {
          throw e;
        }
        capacity = now;
        known = now;
      }
    }
  }

  private int asked() {
    int found = pawl.inspect(name).capacity();
    int now = found == 0 ? capacity : found; // a store may have forgotten it
    if (now == 0) {
      throw new IllegalStateException(
          "semaphore '" + name + "' has no permits yet; give it some by trySetPermits");
    }
    capacity = now;
    return now;
  }

  int available() {
    LockSnapshot now = pawl.inspect(name);
    int permits = now.capacity() == 0 ? capacity : now.capacity(); // a store may have forgotten it
    int held = now.holders().stream().mapToInt(LockSnapshot.Claimant::permits).sum();
    return Math.max(0, permits - held);
  }

  /**
   * Without a wait. A client that has all the permits it knows of asks nobody, so a refusal looks
   * whether there are more by now: one further round trip.
   */
  Optional<Lease> takeAtOnce(LockOptions options, int permits) {
    Optional<Lease> taken = triedOnce(options, permits);
    return taken.isPresent() || !hasChanged() ? taken : triedOnce(options, permits);
  }

  private Optional<Lease> triedOnce(LockOptions options, int permits) {
    try {
      return take(options, permits, semaphore -> semaphore.tryAcquire(permits));
    } catch (InterruptedException e) {
      throw new AssertionError("a request that does not wait", e);
    }
  }

  private boolean hasChanged() {
    int before = capacity;
    return asked() != before;
  }

  boolean evict(long token) {
    return pawl.evict(name, token);
  }
}
