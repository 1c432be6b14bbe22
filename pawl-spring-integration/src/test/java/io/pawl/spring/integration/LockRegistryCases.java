package io.pawl.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;

/** What users of Spring Integration's lock registries rely on. */
abstract class LockRegistryCases {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(2));
  private static final AtomicInteger names = new AtomicInteger();

  private final Pawl here;
  private final Pawl there;
  private final PawlLockRegistry registry;
  private final String key = "key-" + names.incrementAndGet();
  private final DistributedLock lock;
  private final DistributedLock other;

  LockRegistryCases(String url) {
    here = Pawl.connect(url);
    there = Pawl.connect(url);
    registry = new PawlLockRegistry(here, "app:", OPTIONS);
    lock = registry.obtain(key);
    other = new PawlLockRegistry(there, "app:", OPTIONS).obtain(key);
  }

  @AfterEach
  void close() {
    here.close(Duration.ZERO); // some cases leave locks held
    there.close(Duration.ZERO);
  }

  /** A try ends after half a second without an answer, as on a disk that is busy for so long. */
  private static boolean isFreeFor(Lock lock) {
    boolean taken =
        await()
            .pollInSameThread()
            .ignoreExceptionsInstanceOf(StoreUnavailableException.class)
            .until(lock::tryLock, answer -> true);
    if (taken) {
      lock.unlock();
    }
    return taken;
  }

  private static boolean isFreeForAnotherThread(Lock lock) {
    return CompletableFuture.supplyAsync(() -> isFreeFor(lock)).join();
  }

  private void evictHolder() {
    LockSnapshot found = here.inspect("app:" + key);
    assertThat(here.evict("app:" + key, found.holders().get(0).token())).isTrue();
  }

  @Test
  void oneThreadOfOneHostHoldsALock() {
    lock.lock();

    assertThat(isFreeFor(other)).isFalse();
    assertThat(isFreeForAnotherThread(lock)).isFalse();

    lock.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void locksOfDifferentKeysAreDifferent() {
    lock.lock();

    assertThat(isFreeForAnotherThread(registry.obtain(key + "-other"))).isTrue();

    lock.unlock();
  }

  @Test
  void aThreadMayTakeItsLockAgain() throws InterruptedException {
    lock.lock();
    assertThat(registry.obtain(key).tryLock()).isTrue();
    registry.obtain(key).lockInterruptibly();
    assertThat(registry.obtain(key).tryLock(Duration.ZERO, LONG)).isTrue();

    lock.unlock();
    lock.unlock();
    registry.obtain(key).unlock();
    assertThat(isFreeFor(other)).isFalse();
    lock.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void onlyTheThreadThatHoldsALockUnlocksIt() {
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();

    CompletableFuture<Void> stranger = CompletableFuture.runAsync(lock::unlock);
    assertThatThrownBy(stranger::join).hasCauseInstanceOf(IllegalMonitorStateException.class);
    assertThat(isFreeFor(other)).isFalse();

    lock.unlock();
  }

  @Test
  void whoWaitsGetsTheLockWhenItIsLeft() {
    lock.lock();
    CompletableFuture<Void> waiter =
        CompletableFuture.runAsync(
            () -> {
              other.lock();
              other.unlock();
            });
    await().until(() -> !here.inspect("app:" + key).waiters().isEmpty());

    lock.unlock();

    assertThat(waiter).succeedsWithin(Duration.ofSeconds(30));
  }

  @Test
  void aTryEndsWithoutTheLockAfterItsTime() throws InterruptedException {
    lock.lock();

    assertThat(other.tryLock(1, TimeUnit.SECONDS)).isFalse();
    assertThat(other.tryLock(Duration.ofSeconds(1), LONG)).isFalse();
    assertThatThrownBy(
            () ->
                new PawlLockRegistry(there, "app:", OPTIONS)
                    .executeLocked(key, Duration.ofSeconds(1), () -> {}))
        .isInstanceOf(TimeoutException.class);

    lock.unlock();
  }

  @Test
  void aWaitCanBeInterruptedUnlessItIsPlainLock() throws InterruptedException {
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);

    Thread.currentThread().interrupt();
    lock.lock();
    assertThat(Thread.interrupted()).isTrue();
    lock.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void aHeldLockOutlivesItsLease() throws InterruptedException {
    lock.lock();

    assertThat(other.tryLock(5, TimeUnit.SECONDS)).isFalse();

    lock.unlock();
  }

  @Test
  void aLockWithATimeToLiveEndsAfterIt() {
    lock.lock(SHORT);
    other.lock();

    assertThatThrownBy(lock::unlock)
        .isInstanceOf(ConcurrentModificationException.class)
        .hasCauseInstanceOf(LeaseLostException.class);
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);

    other.unlock();
    assertThat(isFreeFor(lock)).isTrue();
  }

  /** Which has not the options of the others: a lease without renewal refuses to be sticky. */
  @Test
  void aRegistryOfStickyLocksHasLocksWithATimeToLiveToo() throws InterruptedException {
    LockOptions sticky = OPTIONS.sticky(Duration.ofMillis(100));
    DistributedLock mine = new PawlLockRegistry(here, "app:", sticky).obtain(key);

    assertThat(mine.tryLock(Duration.ofSeconds(5), LONG)).isTrue();
    assertThat(isFreeFor(other)).isFalse();
    mine.unlock();

    mine.lock(LONG);
    mine.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void aRenewedLockLastsForItsNewTime() throws InterruptedException {
    assertThat(lock.tryLock(Duration.ZERO, Duration.ofSeconds(2))).isTrue();
    registry.renewLock(key, LONG);

    assertThat(other.tryLock(5, TimeUnit.SECONDS)).isFalse();

    registry.renewLock(key);
    lock.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void whatIsNotHeldIsNotRenewed() {
    assertThatThrownBy(() -> registry.renewLock(key))
        .isInstanceOf(IllegalMonitorStateException.class);

    lock.lock();
    evictHolder();
    assertThatThrownBy(() -> registry.renewLock(key))
        .isInstanceOf(IllegalStateException.class)
        .hasCauseInstanceOf(LeaseLostException.class);

    assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
  }

  @Test
  void keysAndTimesThatCannotBeAreRefusedBeforeAnythingIsSent() {
    assertThatThrownBy(() -> registry.obtain(42))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("java.lang.Integer");
    assertThatThrownBy(() -> registry.obtain("line\nbreak"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lock.lock(Duration.ofMillis(1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lock.tryLock(LONG, Duration.ofDays(8)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void ofTwoCandidatesOneLeadsAndTheOtherFollowsIt() {
    List<String> led = new CopyOnWriteArrayList<>();
    LockRegistryLeaderInitiator first = candidate("first", registry, led);
    LockRegistryLeaderInitiator second =
        candidate("second", new PawlLockRegistry(there, "app:", OPTIONS), led);
    first.start();
    await().until(() -> led.contains("first leads"));
    second.start();

    evictHolder();
    await().until(() -> led.contains("first is revoked"));
    await().until(() -> first.getContext().isLeader() != second.getContext().isLeader());

    first.stop();
    await().until(() -> second.getContext().isLeader());
    second.stop();
    assertThat(led).contains("second leads");
  }

  private LockRegistryLeaderInitiator candidate(
      String id, PawlLockRegistry locks, List<String> led) {
    DefaultCandidate candidate =
        new DefaultCandidate(id, key) {
          @Override
          public void onGranted(Context context) {
            led.add(id + " leads");
          }

          @Override
          public void onRevoked(Context context) {
            led.add(id + " is revoked");
          }
        };
    LockRegistryLeaderInitiator initiator = new LockRegistryLeaderInitiator(locks, candidate);
    initiator.setHeartBeatMillis(50);
    initiator.setBusyWaitMillis(20);
    return initiator;
  }
}
