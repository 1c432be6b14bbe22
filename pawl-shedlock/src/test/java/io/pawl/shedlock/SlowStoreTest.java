package io.pawl.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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
  private final FaultyStore slow = new FaultyStore(memory);
  private final AtomicInteger runs = new AtomicInteger();

  private void run(Pawl host) {
    new DefaultLockingTaskExecutor(new PawlLockProvider(host))
        .executeWithLock(
            (Runnable) runs::incrementAndGet,
            new LockConfiguration(ClockProvider.now(), "nightly", LONG, LONG));
  }

  /** Whoever comes meanwhile finds it busy: a host that gave up would have kept all from it. */
  @Test
  void aTaskRunsThoughTheStoreAnswersLaterThanATryWaitsForIt() throws Exception {
    slow.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    try (Pawl late = Pawl.over(slow);
        Pawl other = Pawl.over(memory)) {
      CompletableFuture<Void> first =
          CompletableFuture.runAsync(() -> run(late), task -> new Thread(task).start());
      await().until(() -> slow.calls(Verb.ATTEMPT) == 1);
      CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS).execute(slow::resume);
      run(other);
      first.exceptionally(failure -> null).get(60, TimeUnit.SECONDS);
    }
    assertThat(runs).hasValue(1);
  }

  @Test
  void aStoreThatKeepsSilentFailsTheRunOnceThePatienceIsOver() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(1));
    slow.on(Verb.ATTEMPT, Fault.LOSE_REQUEST);
    try (Pawl pawl = Pawl.over(slow, impatient)) {
      assertThatThrownBy(() -> run(pawl)).isInstanceOf(StoreUnavailableException.class);
    }
    assertThat(runs).hasValue(0);
  }
}
