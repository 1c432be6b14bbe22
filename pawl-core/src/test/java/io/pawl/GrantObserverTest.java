package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The gauge of leases that are held: each grant that is told of ends once, and no other does. */
class GrantObserverTest {

  private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofMillis(150));

  private final Queue<String> heard = new ConcurrentLinkedQueue<>();
  private final LockObserver observer =
      new LockObserver() {
        @Override
        public void acquired(String lock, long token, Duration waited, boolean passed) {
          heard.add("acquired " + token);
        }

        @Override
        public void notAcquired(String lock, Duration waited) {
          heard.add("not acquired");
        }

        @Override
        public void released(String lock, long token, Duration held) {
          heard.add("released " + token);
        }

        @Override
        public void lost(String lock, long token, String why) {
          heard.add("lost " + token);
        }
      };
  private final PawlOptions options = PawlOptions.defaults().observer(observer);
  private final MemoryStore store = new MemoryStore();

  /** What runs on the users' executor, when the test says so. */
  private final Deque<Runnable> later = new ConcurrentLinkedDeque<>();

  /** The newest first: the order of an executor of many threads is nobody's. */
  private void runLater() {
    for (Runnable task = later.pollLast(); task != null; task = later.pollLast()) {
      task.run();
    }
  }

  @Test
  void aLeaseCountsAsHeldWhileWhatIsAttachedToItsFutureWorksUnderIt() throws Exception {
    try (Pawl there = Pawl.over(store);
        Pawl pawl = Pawl.over(store, options)) {
      Lease busy = there.lock("x").acquire();
      CompletableFuture<Void> work =
          pawl.lock("x")
              .acquireAsync()
              .thenAccept(
                  lease -> {
                    Awaitility.await().until(() -> heard.contains("acquired 2"));
                    lease.close();
                  });
      busy.close();
      work.get(60, TimeUnit.SECONDS);
    }
  }

  @Test
  void whatACallersOwnCallBringsAboutIsToldOnItsThread() throws Exception {
    Queue<Thread> told = new ConcurrentLinkedQueue<>();
    LockObserver onThread =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            told.add(Thread.currentThread());
          }

          @Override
          public void notAcquired(String lock, Duration waited) {
            told.add(Thread.currentThread());
          }

          @Override
          public void released(String lock, long token, Duration held) {
            told.add(Thread.currentThread());
          }
        };
    try (Pawl there = Pawl.over(store);
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(onThread))) {
      pawl.lock("x").tryAcquire().orElseThrow().close();
      try (Lease busy = there.lock("x").acquire()) {
        assertThat(busy.isValid()).isTrue();
        assertThat(pawl.lock("x").tryAcquire()).isEmpty();
      }
    }
    assertThat(told).hasSize(3).containsOnly(Thread.currentThread());
  }

  private CompletableFuture<Lease> lostBeforeItIsDelivered(Pawl pawl) throws Exception {
    CompletableFuture<Lease> future = pawl.lock("x", SHORT).acquireAsync();
    assertThat(store.evict("x", 1).toCompletableFuture().get()).isTrue();
    Awaitility.await().until(() -> later.size() >= 2); // its delivery, and its loss
    return future;
  }

  @Test
  void aGrantThatIsLostBeforeItIsDeliveredIsToldOfAsGrantedAndThenLost() throws Exception {
    try (Pawl pawl = Pawl.over(store, options.executor(later::add))) {
      CompletableFuture<Lease> future = lostBeforeItIsDelivered(pawl);
      runLater();
      assertThat(future).isCompleted();
      Awaitility.await()
          .untilAsserted(
              () -> {
                runLater();
                assertThat(heard).containsExactly("acquired 1", "lost 1");
              });
    }
  }

  @Test
  void aGrantThatIsLostAndCancelledBeforeItIsDeliveredIsARequestWithoutTheLock() throws Exception {
    try (Pawl pawl = Pawl.over(store, options.executor(later::add))) {
      CompletableFuture<Lease> future = lostBeforeItIsDelivered(pawl);
      future.cancel(false);
      Awaitility.await()
          .untilAsserted(
              () -> {
                runLater();
                assertThat(heard).containsExactly("not acquired");
              });
    }
  }
}
