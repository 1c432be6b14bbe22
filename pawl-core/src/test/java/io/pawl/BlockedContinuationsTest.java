package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Users' continuations may block for ever; the engine goes on. */
class BlockedContinuationsTest {

  /** Long enough for a machine that stands still for a second, which loses a lease rightly. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  private final MemoryStore store = new MemoryStore();
  private final CountDownLatch released = new CountDownLatch(1);

  @Test
  void blockedContinuationsDelayNeitherRenewalsNorTheNewsOfALoss() throws Exception {
    AtomicInteger losses = new AtomicInteger();
    try (Pawl pawl = Pawl.over(new BlockingStore(store))) {
      Lease lease = pawl.lock("held", LockOptions.defaults().lease(LEASE)).acquire();
      lease.onLost(losses::incrementAndGet);
      try (Pawl other = Pawl.over(store)) {
        for (int i = 0; i < 40; i++) {
          other.lock("other " + i).acquire();
          pawl.lock("other " + i).tryAcquireAsync(Duration.ofMinutes(1)).thenRun(this::block);
        }
      }
      long start = System.nanoTime();
      await().until(() -> System.nanoTime() - start > 2 * LEASE.toNanos());
      assertThat(lease.isValid()).as("renewed two leases later").isTrue();
      store.evict("held", lease.token());
      await().until(() -> losses.get() == 1);
      released.countDown();
    }
  }

  private void block() {
    try {
      released.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** As a JDBC store: works on the thread that calls it. */
  private record BlockingStore(LockStore store) implements LockStore {

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return store.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      return store.renew(claims);
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      return store.withdraw(claim);
    }

    @Override
    public boolean blocks() {
      return true;
    }

    @Override
    public String describe() {
      return store.describe();
    }

    @Override
    public void close() {}
  }
}
