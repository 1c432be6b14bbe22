package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Releases in the background on a store that blocks, whose workers run when the test says so. */
class LateReleaseTest {

  private final EventQueue events = new EventQueue(new Random(1));
  private final ScriptedStore store = new ScriptedStore();
  private final Queue<Runnable> atWorkers = new ArrayDeque<>();
  private final Engine engine =
      new Engine(
          store,
          PawlOptions.defaults(),
          new SimulatedTime(events, new SimulatedProcess(events), 0, 1),
          Workers.on(atWorkers::add, Runnable::run),
          new Random(2),
          "client");
  private final DistributedLock lock =
      new DistributedLock(engine, "lock", LockOptions.defaults().releaseInBackground());

  private Lease acquire(long token) throws InterruptedException {
    store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(token)));
    return lock.acquire();
  }

  @Test
  void theCallerIsNotBlockedAndAWorkerGivesTheLockBack() throws Exception {
    store.blocks = true;
    Lease lease = acquire(1);

    lease.close();

    assertThat(lease.isValid()).isFalse();
    assertThat(store.withdrawals).isEmpty();
    atWorkers.remove().run();
    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void whoeverAsksNextMakesTheReleaseFirstAndTheWorkerNotAgain() throws Exception {
    store.blocks = true;
    acquire(1).close();
    store.asked = claim -> assertThat(store.withdrawals).as("given back before").hasSize(1);

    Lease next = acquire(2);

    assertThat(next.token()).isEqualTo(2);
    assertThat(store.attempts).hasSize(2);
    atWorkers.remove().run();
    assertThat(store.withdrawals).hasSize(1);
  }

  private static void onASmallStack(Runnable task) throws InterruptedException {
    Thread thread = new Thread(null, task, "small", 256 << 10);
    thread.start();
    thread.join();
  }

  /** However many they are: one thread makes all that lie before what it asks for. */
  @Test
  void allPermitsThatWereGivenBackAreMadeByWhoAsksNext() throws Exception {
    store.blocks = true;
    int permits = 2_500;
    DistributedSemaphore semaphore =
        new DistributedSemaphore(
            engine, "permits", permits, LockOptions.defaults().releaseInBackground());
    List<Lease> leases = new ArrayList<>();
    for (int i = 1; i <= permits; i++) {
      store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(i)));
      leases.add(semaphore.acquire(1));
    }
    leases.forEach(Lease::close);

    store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(permits + 1)));
    onASmallStack(() -> semaphore.acquireUninterruptibly(1));

    assertThat(store.withdrawals)
        .extracting(Claim::id)
        .containsExactlyElementsOf(
            store.attempts.stream().limit(permits).map(asked -> asked.claim().id()).toList());
  }

  /** The client gives it back by itself, and must not find it busy for that. */
  @Test
  void whoeverAsksAfterTheTimeOfAStickyHoldGivesItBackFirst() throws Exception {
    store.blocks = true;
    DistributedLock sticky =
        new DistributedLock(engine, "lock", LockOptions.defaults().sticky(Duration.ofMillis(500)));
    store.answers.add(CompletableFuture.completedFuture(new Standing.Held(1, 100)));
    sticky.acquire().close();
    long over = events.now() + Duration.ofMillis(500).toNanos();
    while (events.step(over)) {}
    assertThat(store.withdrawals).isEmpty();
    store.asked = claim -> assertThat(store.withdrawals).as("given back before").hasSize(1);

    store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(101)));
    Lease next = sticky.acquire();

    assertThat(next.token()).isEqualTo(101);
    assertThat(store.withdrawals).hasSize(1);
  }

  @Test
  void aStoreThatDoesNotBlockIsToldAtOnce() throws Exception {
    acquire(1).close();

    assertThat(store.withdrawals).hasSize(1);
    assertThat(atWorkers).isEmpty();
  }

  @Test
  void closingTwiceGivesBackOnce() throws Exception {
    Lease lease = acquire(1);
    lease.close();
    lease.close();

    assertThat(store.withdrawals).hasSize(1);
  }
}
