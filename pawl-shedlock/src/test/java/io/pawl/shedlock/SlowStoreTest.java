package io.pawl.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.junit.jupiter.api.Test;

/** A task may come once a day, as its store stands still for a moment. */
class SlowStoreTest {

  private static final Duration LONG = Duration.ofMinutes(5);

  private final MemoryStore memory = new MemoryStore();
  private final AtomicInteger runs = new AtomicInteger();

  private void run(Pawl host) {
    new DefaultLockingTaskExecutor(new PawlLockProvider(host))
        .executeWithLock(
            (Runnable) runs::incrementAndGet,
            new LockConfiguration(ClockProvider.now(), "nightly", LONG, LONG));
  }

  /** The way of one host to the store, on which the first answer is lost, 700 ms later. */
  private static final class LossyWay implements LockStore {

    private final LockStore store;
    private final boolean losesAll;
    private final CompletableFuture<Void> firstCame = new CompletableFuture<>();

    LossyWay(LockStore store, boolean losesAll) {
      this.store = store;
      this.losesAll = losesAll;
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      CompletionStage<Standing> applied = store.attempt(claim, bell);
      if (!firstCame.complete(null) && !losesAll) {
        return applied;
      }
      CompletableFuture<Standing> lost = new CompletableFuture<>();
      CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS)
          .execute(() -> lost.completeExceptionally(new StoreUnavailableException("no answer")));
      return lost;
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
    public String describe() {
      return store.describe();
    }

    @Override
    public void close() {}
  }

  /** Whoever comes meanwhile finds it busy: a host that gave up would have kept all from it. */
  @Test
  void aTaskRunsThoughTheFirstAnswerOfTheStoreIsLost() throws Exception {
    LossyWay lossy = new LossyWay(memory, false);
    try (Pawl slow = Pawl.over(lossy);
        Pawl other = Pawl.over(memory)) {
      CompletableFuture<Void> first =
          CompletableFuture.runAsync(() -> run(slow), task -> new Thread(task).start());
      lossy.firstCame.get(60, TimeUnit.SECONDS);
      run(other);
      first.exceptionally(failure -> null).get(60, TimeUnit.SECONDS);
    }
    assertThat(runs).hasValue(1);
  }

  @Test
  void aStoreThatKeepsSilentFailsTheRunOnceThePatienceIsOver() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(1));
    try (Pawl pawl = Pawl.over(new LossyWay(memory, true), impatient)) {
      assertThatThrownBy(() -> run(pawl)).isInstanceOf(StoreUnavailableException.class);
    }
    assertThat(runs).hasValue(0);
  }
}
