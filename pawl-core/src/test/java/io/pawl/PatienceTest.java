package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.counter.Change;
import io.pawl.counter.Update;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A driver may take longer to fail than a client is patient: that is not waited for twice. */
class PatienceTest {

  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static final int STORE_THREADS = 16;

  private final SlowStore store = new SlowStore();
  private final Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(PATIENCE));

  @Test
  void aCountersPatienceCountsFromItsQuestionNotFromTheFailure() {
    assertThatThrownBy(() -> pawl.counter("stock").update(Update.set(1)))
        .isInstanceOf(StoreUnavailableException.class);

    assertThat(store.changes).hasValue(1);
    pawl.close();
  }

  /** As many as there are threads for the store, and one more, which waits for one of them. */
  @Test
  void aCountersPatienceCountsWhileItsQuestionWaitsForAThread() {
    store.slowChanges = STORE_THREADS;
    store.failingChanges = STORE_THREADS + 1;
    List<CompletableFuture<Change>> changes = new ArrayList<>();
    for (int i = 0; i <= STORE_THREADS; i++) {
      changes.add(pawl.counter("stock").async().add(1));
    }

    for (CompletableFuture<Change> change : changes) {
      assertThatThrownBy(() -> change.get(60, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreUnavailableException.class);
    }

    assertThat(store.changes).hasValue(STORE_THREADS + 1);
    pawl.close();
  }

  @Test
  void aCloseThatTheDriverHasHeldUpForThePatienceWaitsNoLonger() throws Exception {
    Lease lease = pawl.lock("lock").acquire();

    lease.close();
    store.closed.countDown();

    assertThat(store.closedFirst.get(20, TimeUnit.SECONDS)).isTrue();
    pawl.close();
  }

  /** Blocks, as JDBC does: its first changes and its first withdrawal fail after the patience. */
  private static final class SlowStore implements LockStore, CounterStore {

    private final MemoryStore memory = new MemoryStore();
    private final AtomicInteger changes = new AtomicInteger();
    private final AtomicInteger withdrawals = new AtomicInteger();
    private volatile int slowChanges = 1;
    private volatile int failingChanges = 1;
    private final CountDownLatch closed = new CountDownLatch(1);

    /** Whether the call of {@code close} had returned before the second withdrawal was answered. */
    private final CompletableFuture<Boolean> closedFirst = new CompletableFuture<>();

    private static <T> CompletionStage<T> failsAfter(Duration time) {
      long start = System.nanoTime();
      while (System.nanoTime() - start <= time.toNanos()) {
        Thread.onSpinWait();
      }
      return CompletableFuture.failedFuture(StoreUnavailableException.unsent("locked", null));
    }

    @Override
    public CompletionStage<Void> withdraw(Claim claim) {
      if (withdrawals.getAndIncrement() == 0) {
        return failsAfter(PATIENCE);
      }
      try {
        closedFirst.complete(closed.await(PATIENCE.toMillis() / 2, TimeUnit.MILLISECONDS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return memory.withdraw(claim);
    }

    @Override
    public CompletionStage<CounterAnswer> apply(CounterRequest request) {
      int before = changes.getAndIncrement();
      if (before < slowChanges) {
        return failsAfter(PATIENCE.multipliedBy(2));
      }
      return before < failingChanges
          ? CompletableFuture.failedFuture(StoreUnavailableException.unsent("locked", null))
          : memory.apply(request);
    }

    @Override
    public boolean blocks() {
      return true;
    }

    @Override
    public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
      return memory.attempt(claim, bell);
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      return memory.renew(claims);
    }

    @Override
    public CompletionStage<Optional<CounterView>> read(String counter) {
      return memory.read(counter);
    }

    @Override
    public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
      return memory.history(counter, limit);
    }

    @Override
    public CompletionStage<List<CounterView>> list(String after, int limit) {
      return memory.list(after, limit);
    }

    @Override
    public CompletionStage<Long> prune(String counter, Instant before) {
      return memory.prune(counter, before);
    }

    @Override
    public String describe() {
      return "slow";
    }

    @Override
    public void close() {}
  }
}
