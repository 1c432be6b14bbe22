package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A lease that the garbage collector has taken is renewed no more; any other is. */
class ForgottenLeaseTest {

  private static final LockOptions SHORT = LockOptions.defaults().lease(Duration.ofMillis(300));

  /** Long enough for a machine that collects garbage all the time. */
  private static final LockOptions STEADY = LockOptions.defaults().lease(Duration.ofMinutes(1));

  private final MemoryStore store = new MemoryStore();
  private final CountDownLatch lost = new CountDownLatch(1);
  private final Set<String> lostNames = ConcurrentHashMap.newKeySet();
  private final LockObserver observer =
      new LockObserver() {
        @Override
        public void lost(String lock, long token, String why) {
          lostNames.add(lock);
          lost.countDown();
        }
      };
  private final Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer));
  private final Pawl other = Pawl.over(store);

  @AfterEach
  void close() {
    pawl.close(Duration.ZERO);
    other.close(Duration.ZERO);
  }

  private long acquireAndForget() throws InterruptedException {
    return pawl.lock("forgotten", SHORT).acquire().token();
  }

  @Test
  void aForgottenLeaseIsNamedAndRunsOut() throws Exception {
    long token = acquireAndForget();

    Awaitility.await()
        .until(
            () -> {
              System.gc();
              return lost.getCount() == 0;
            });

    Lease next = other.lock("forgotten").tryAcquire(Duration.ofSeconds(20)).orElseThrow();
    assertThat(next.token()).isGreaterThan(token);
  }

  @Test
  void eachLockOfAForgottenGroupRunsOut() throws Exception {
    acquireGroupAndForget();

    Awaitility.await()
        .until(
            () -> {
              System.gc();
              return lostNames.size() == 2;
            });

    assertThat(lostNames).containsExactlyInAnyOrder("one", "two");
    assertThat(other.lockAll(List.of("one", "two")).tryAcquire(Duration.ofSeconds(20))).isPresent();
  }

  private void acquireGroupAndForget() throws InterruptedException {
    pawl.lockAll(List.of("one", "two"), SHORT).acquire();
  }

  @Test
  void aLeaseWithACallbackIsNotForgotten() throws Exception {
    pawl.lock("watched", STEADY).acquire().onLost(() -> {});
    Lease kept = pawl.lock("kept", STEADY).acquire();
    acquireAndForget();

    assertThat(lostBySomeCollection()).isTrue();

    assertThat(lostNames).containsExactly("forgotten");
    assertThat(other.lock("watched").tryAcquire()).isEmpty();
    assertThat(other.lock("kept").tryAcquire()).isEmpty();
    kept.close();
  }

  @Test
  void aGroupWithACallbackIsNotForgotten() throws Exception {
    pawl.lockAll(List.of("one", "two"), STEADY).acquire().onLost(() -> {});
    acquireAndForget();

    assertThat(lostBySomeCollection()).isTrue();

    assertThat(lostNames).containsExactly("forgotten");
  }

  @Test
  void aStageThatNobodyCanCompleteKeepsNoLockThoughItsResultIsKept() {
    CompletableFuture<?> result =
        pawl.lock("stage", SHORT).callAsync(Duration.ZERO, lease -> new CompletableFuture<>());

    Awaitility.await()
        .until(
            () -> {
              System.gc();
              return lost.getCount() == 0;
            });

    assertThat(lostNames).containsExactly("stage");
    assertThat(result).isNotDone();
  }

  private boolean lostBySomeCollection() throws InterruptedException {
    for (int i = 0; i < 600; i++) {
      System.gc();
      if (lost.await(50, TimeUnit.MILLISECONDS)) {
        return true;
      }
    }
    return false;
  }

  @Test
  void theLeaseOfARunningBodyIsNotForgotten() throws Exception {
    assertThat(
            pawl.lock("body", STEADY)
                .call(
                    Duration.ZERO,
                    lease -> {
                      acquireAndForget();
                      return lostBySomeCollection();
                    }))
        .contains(true);
    assertThat(lostNames).containsExactly("forgotten");
  }
}
