package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class AbandonedThreadTest {

  /** Nobody is left who could unlock: the lease is found out as one that nobody can reach. */
  @Test
  void aThreadThatDiesInsideKeepsTheLockNoLongerThanItsLease() throws InterruptedException {
    try (Pawl here = Pawl.connect("memory:abandoned");
        Pawl there = Pawl.connect("memory:abandoned")) {
      LockOptions brief = LockOptions.defaults().lease(Duration.ofMillis(300));
      Thread thread = new Thread(() -> here.lock("x", brief).asJavaLock().lock());
      thread.start();
      thread.join();
      Awaitility.await()
          .until(
              () -> {
                System.gc();
                Optional<Lease> lease = there.lock("x").tryAcquire();
                lease.ifPresent(Lease::close);
                return lease.isPresent();
              });
      assertThat(here.lock("x").asJavaLock().isHeldByCurrentThread()).isFalse();
    }
  }
}
