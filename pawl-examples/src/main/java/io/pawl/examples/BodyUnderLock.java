package io.pawl.examples;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.OnLoss;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/** A body under a lock: its result, the lock that is busy, and the lease that is lost meanwhile. */
public final class BodyUnderLock {

  private static final Duration SOON = Duration.ofMillis(10);

  private BodyUnderLock() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) throws InterruptedException {
    try (MemoryStore store = new MemoryStore();
        Pawl pawl = Pawl.over(store)) {
      DistributedLock lock = pawl.lock("report");
      long token = lock.call(SOON, Lease::token).orElseThrow();
      System.out.println("ran with token " + token);

      try (Lease busy = lock.acquire()) {
        Optional<Long> skipped = lock.call(SOON, Lease::token);
        System.out.println("busy, held with token " + busy.token() + ": " + skipped);
      }
      lose(pawl);
    }
  }

  private static void lose(Pawl pawl) throws InterruptedException {
    LockOptions unrenewed = LockOptions.defaults().lease(Duration.ofMillis(200)).renewal(false);
    try {
      pawl.lock("report", unrenewed)
          .run(SOON, OnLoss.INTERRUPT, lease -> new CountDownLatch(1).await());
      throw new IllegalStateException("the loss was not told");
    } catch (LeaseLostException lost) {
      System.out.println("interrupted, and told: " + lost.getMessage());
    }
  }
}
