package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The gauge of those who wait: each that began to wait is told of twice, others not at all. */
class WaitingObserverTest {

  private static final Duration LONG = Duration.ofMinutes(1);

  private final AtomicInteger gauge = new AtomicInteger();
  private final AtomicInteger begun = new AtomicInteger();
  private final ConcurrentLinkedQueue<Boolean> behindOwn = new ConcurrentLinkedQueue<>();
  private final LockObserver observer =
      new LockObserver() {
        @Override
        public void waiting(String lock, boolean own) {
          behindOwn.add(own);
          begun.incrementAndGet();
          gauge.incrementAndGet();
        }

        @Override
        public void waitingEnded(String lock, Duration waited) {
          gauge.decrementAndGet();
        }
      };
  private final MemoryStore store = new MemoryStore();
  private final Pawl here = Pawl.over(store, PawlOptions.defaults().observer(observer));
  private final Pawl there = Pawl.over(store);

  @AfterEach
  void closeClients() {
    here.close();
    there.close();
  }

  private void eventually(int value) {
    Awaitility.await().until(() -> gauge.get() == value);
  }

  @Test
  void aRequestThatIsAnsweredAtOnceDoesNotWait() throws InterruptedException {
    here.lock("x").acquire().close();
    here.lock("x").tryAcquireAsync(LONG).join().orElseThrow().close();
    Lease busy = there.lock("x").acquire();
    assertThat(here.lock("x").tryAcquire()).isEmpty();
    busy.close();
    assertThat(begun).hasValue(0);
  }

  @Test
  void whoStandsInTheStoresLineWaitsUntilItIsGranted() throws InterruptedException {
    Lease busy = there.lock("x").acquire();
    CompletableFuture<Lease> waiting = here.lock("x").acquireAsync();
    eventually(1);
    assertThat(behindOwn).containsExactly(false);
    CompletableFuture<Lease> behind = here.lock("x").acquireAsync();
    eventually(2);
    busy.close();
    waiting.join().close();
    behind.join().close();
    eventually(0);
    assertThat(begun).hasValue(2);
  }

  @Test
  void whoStandsBehindALeaseOfTheSameClientWaitsToo() throws InterruptedException {
    Lease busy = here.lock("x").acquire();
    CompletableFuture<Lease> waiting = here.lock("x").acquireAsync();
    eventually(1);
    assertThat(behindOwn).containsExactly(true);
    busy.close();
    waiting.join().close();
    eventually(0);
  }

  @Test
  void strictWaitersReadersAndPermitsAreTold() throws InterruptedException {
    LockOptions strict = LockOptions.defaults().strictOrder();
    Lease writer = there.lock("x").acquire();
    Lease permits = there.semaphore("s", 2).acquire(2);
    List<CompletableFuture<Lease>> waiting = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      waiting.add(here.lock("x", strict).acquireAsync());
      waiting.add(here.readWriteLock("x").readLock().acquireAsync());
      waiting.add(here.semaphore("s", 2).acquireAsync(1));
    }
    eventually(9);
    writer.close();
    permits.close();
    waiting.forEach(lease -> lease.thenAccept(Lease::close));
    waiting.forEach(CompletableFuture::join);
    eventually(0);
    assertThat(begun).hasValue(9);
  }

  @Test
  void everyEndOfAWaitIsTold() throws InterruptedException {
    Lease busy = there.lock("x").acquire();
    CompletableFuture<Lease> cancelled = here.lock("x").acquireAsync();
    Thread interrupted =
        new Thread(
            () ->
                assertThatThrownBy(() -> here.lock("x").acquire())
                    .isInstanceOf(InterruptedException.class));
    interrupted.start();
    CompletableFuture<Optional<Lease>> timedOut =
        here.lock("x").tryAcquireAsync(Duration.ofMillis(50));
    assertThat(here.lock("x").tryAcquire(Duration.ofMillis(20))).isEmpty();
    assertThat(timedOut.join()).isEmpty();
    eventually(2);
    cancelled.cancel(true);
    eventually(1);
    interrupted.interrupt();
    interrupted.join();
    eventually(0);
    CompletableFuture<Lease> turnedAway = here.lock("x").acquireAsync();
    eventually(1);
    here.close();
    assertThatThrownBy(turnedAway::join).hasCauseInstanceOf(IllegalStateException.class);
    eventually(0);
    busy.close();
  }

  /** Its user has never had it: who counts leases counts neither a grant nor a release. */
  @Test
  void aRequestThatIsCancelledAsItsGrantComesEndsWithoutTheLock() {
    ConcurrentLinkedQueue<Runnable> held = new ConcurrentLinkedQueue<>();
    ConcurrentLinkedQueue<String> told = new ConcurrentLinkedQueue<>();
    PawlOptions options =
        PawlOptions.defaults()
            .executor(held::add)
            .observer(
                new LockObserver() {
                  @Override
                  public void acquired(String lock, long token, Duration waited, boolean passed) {
                    told.add("acquired");
                  }

                  @Override
                  public void notAcquired(String lock, Duration waited) {
                    told.add("not acquired");
                  }

                  @Override
                  public void released(String lock, long token, Duration duration) {
                    told.add("released");
                  }
                });
    Pawl client = Pawl.over(store, options);
    CompletableFuture<Lease> granted = client.lock("cancelled").acquireAsync();
    Awaitility.await().until(() -> !held.isEmpty());

    granted.cancel(false);
    Awaitility.await()
        .until(
            () -> {
              for (Runnable task = held.poll(); task != null; task = held.poll()) {
                task.run();
              }
              return !told.isEmpty() && there.lock("cancelled").tryAcquire().isPresent();
            });

    assertThat(told).containsExactly("not acquired");
    client.close(Duration.ZERO);
  }

  @Test
  void p5_losses_anObserverThatBlocksKeepsNoHolderFromHearing() throws InterruptedException {
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    PawlOptions options =
        PawlOptions.defaults()
            .observer(
                new LockObserver() {
                  @Override
                  public void lost(String lock, long token, String why) {
                    try {
                      blocked.await();
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }
                });
    Pawl client = Pawl.over(store, options);
    LockOptions once = LockOptions.defaults().lease(Duration.ofMillis(200)).renewal(false);

    Lease lease = client.lock("lost", once).acquire();
    lease.onLost(told::countDown);

    assertThat(told.await(60, TimeUnit.SECONDS)).isTrue();
    blocked.countDown();
    client.close(Duration.ZERO);
  }
}
