package io.pawl.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What users of ShedLock rely on. */
abstract class LockProviderCases {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final AtomicInteger names = new AtomicInteger();

  private final String url;
  private final Pawl here;
  private final Pawl there;
  private final LockProvider provider;
  private final LockProvider other;
  private final String name = "job-" + names.incrementAndGet();

  LockProviderCases(String url) {
    this.url = url;
    here = Pawl.connect(url);
    there = Pawl.connect(url);
    provider = new PawlLockProvider(here);
    other = new PawlLockProvider(there);
  }

  @AfterEach
  void close() {
    here.close(Duration.ZERO); // some cases leave locks held
    there.close(Duration.ZERO);
  }

  private LockConfiguration wanted(Duration atMost, Duration atLeast) {
    return new LockConfiguration(ClockProvider.now(), name, atMost, atLeast);
  }

  private Optional<SimpleLock> lock(LockProvider by, Duration atMost, Duration atLeast) {
    return by.lock(wanted(atMost, atLeast));
  }

  private SimpleLock taken(Duration atMost, Duration atLeast) {
    return lock(provider, atMost, atLeast).orElseThrow();
  }

  /**
   * ShedLock's clock counts milliseconds: one that ends before the lock is asked for refuses it.
   */
  private SimpleLock takenWithinAMillisecond() {
    return await()
        .until(() -> lock(provider, Duration.ofNanos(1), Duration.ZERO), Optional::isPresent)
        .orElseThrow();
  }

  private boolean isFree() {
    Optional<SimpleLock> lock = lock(other, LONG, Duration.ZERO);
    lock.ifPresent(SimpleLock::unlock);
    return lock.isPresent();
  }

  @Test
  void oneHostAtATimeHoldsALock() {
    SimpleLock lock = taken(LONG, Duration.ZERO);
    assertThat(lock(other, LONG, Duration.ZERO)).isEmpty();
    assertThat(lock(provider, LONG, Duration.ZERO)).isEmpty();

    lock.unlock();

    assertThat(isFree()).isTrue();
  }

  @Test
  void ofManyAtOnceOneGetsTheLock() throws Exception {
    CountDownLatch start = new CountDownLatch(1);
    List<CompletableFuture<Boolean>> tries = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      LockProvider by = i % 2 == 0 ? provider : other;
      tries.add(
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                return lock(by, LONG, Duration.ZERO).isPresent();
              },
              task -> new Thread(task).start()));
    }
    start.countDown();

    int granted = 0;
    for (CompletableFuture<Boolean> each : tries) {
      granted += each.get(60, TimeUnit.SECONDS) ? 1 : 0;
    }
    assertThat(granted).isEqualTo(1);
  }

  @Test
  void aLockThatNobodyUnlocksLastsForItsLongestTimeThoughItsProcessLives() {
    Duration longest = Duration.ofSeconds(2);
    long before = System.nanoTime();
    SimpleLock lock = taken(longest, Duration.ZERO);

    await().pollInterval(Duration.ofMillis(2)).until(this::isFree);

    assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThanOrEqualTo(longest);
    lock.unlock();
  }

  @Test
  void anUnlockThatComesLateTakesNothingFromTheNextHolder() {
    SimpleLock late = taken(SHORT, Duration.ZERO);
    await().until(() -> lock(other, LONG, Duration.ZERO).isPresent());

    late.unlock();

    assertThat(isFree()).isFalse();
  }

  @Test
  void aLockStaysBusyForItsShortestTimeThoughItIsUnlockedAndItsClientClosed() {
    long before = System.nanoTime();
    taken(LONG, Duration.ofSeconds(2)).unlock();
    here.close();

    await().until(this::isFree);

    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(2_000_000_000L);
  }

  @Test
  void anExtendedLockLastsForTheNewTimeAndTheOldObjectIsOver() {
    SimpleLock lock = taken(Duration.ofSeconds(3), Duration.ZERO);

    SimpleLock longer = lock.extend(LONG, Duration.ZERO).orElseThrow();

    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    assertThat(isFree()).isFalse();
    longer.unlock();
    assertThat(isFree()).isTrue();
  }

  @Test
  void aLockMayBeExtendedAgainAndAgain() {
    SimpleLock lock = taken(Duration.ofSeconds(3), Duration.ZERO);
    for (int i = 0; i < 5; i++) {
      lock = lock.extend(LONG, Duration.ZERO).orElseThrow();
      assertThat(isFree()).isFalse();
    }
    lock.unlock();
    assertThat(isFree()).isTrue();
  }

  @Test
  void anExtensionToAShorterTimeLeavesTheLockAsLongAsItWas() {
    long before = System.nanoTime();
    SimpleLock shorter = taken(LONG, Duration.ZERO).extend(SHORT, Duration.ZERO).orElseThrow();
    await().until(() -> System.nanoTime() - before > 2 * SHORT.toNanos());

    SimpleLock longer = shorter.extend(LONG, Duration.ZERO).orElseThrow();

    assertThat(isFree()).isFalse();
    longer.unlock();
  }

  @Test
  void theShortestTimeOfAnExtensionCountsFromTheExtension() {
    SimpleLock lock = taken(Duration.ofSeconds(3), Duration.ZERO);
    long before = System.nanoTime();

    lock.extend(LONG, Duration.ofSeconds(2)).orElseThrow().unlock();

    await().until(this::isFree);
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(2_000_000_000L);
  }

  @Test
  void aLateUnlockIsMadeByAThreadThatNobodyElseNeeds() throws Exception {
    CompletableFuture<String> thread = new CompletableFuture<>();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void released(String lock, long token, Duration held) {
            thread.complete(Thread.currentThread().getName());
          }
        };
    try (Pawl pawl = Pawl.connect(url, PawlOptions.defaults().observer(observer))) {
      SimpleLock lock = lock(new PawlLockProvider(pawl), LONG, Duration.ZERO).orElseThrow();

      lock.extend(LONG, SHORT).orElseThrow().unlock();

      assertThat(thread.get(20, TimeUnit.SECONDS)).isEqualTo("pawl-shedlock-unlock");
    }
  }

  @Test
  void noThreadWaitsForAnUnlockWhoseClientIsClosed() {
    taken(LONG, Duration.ZERO).extend(LONG, LONG).orElseThrow().unlock();
    assertThat(timers()).isPositive();

    here.close(Duration.ZERO);

    await().until(() -> timers() == 0);
  }

  private static long timers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("pawl-shedlock-timer"))
        .count();
  }

  @Test
  void aLockThatIsOverCannotBeExtended() {
    SimpleLock lock = taken(SHORT, Duration.ZERO);
    await().until(this::isFree);

    assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();

    assertThat(isFree()).isTrue();
  }

  /** Pawl's shortest lease is longer. */
  @Test
  void aLockOfAMomentIsOverAfterIt() {
    SimpleLock lock = takenWithinAMillisecond();

    assertThat(lock.extend(LONG, Duration.ZERO)).isEmpty();

    await().until(this::isFree);
  }

  @Test
  void anUnlockedLockCanBeNeitherUnlockedNorExtended() {
    SimpleLock lock = taken(LONG, Duration.ZERO);
    lock.unlock();

    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anExecutorRunsATaskOnceAndUnderItsLock() throws Throwable {
    DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(provider);
    AtomicInteger runs = new AtomicInteger();

    executor.executeWithLock(
        (Runnable)
            () -> {
              runs.incrementAndGet();
              assertThat(isFree()).isFalse();
              LockExtender.extendActiveLock(LONG, Duration.ZERO);
              CompletableFuture.runAsync(
                      () ->
                          new DefaultLockingTaskExecutor(other)
                              .executeWithLock(
                                  (Runnable) runs::incrementAndGet, wanted(LONG, Duration.ZERO)))
                  .join(); // on the same thread ShedLock would count it as the same task
            },
        wanted(LONG, Duration.ZERO));

    assertThat(runs).hasValue(1);
    assertThat(isFree()).isTrue();
  }

  @Test
  void namesOfAPrefixAreApart() {
    taken(LONG, Duration.ZERO);

    assertThat(lock(new PawlLockProvider(there, "shop/"), LONG, Duration.ZERO)).isPresent();

    assertThat(there.lock("shop/" + name).tryAcquire()).isEmpty();
    assertThat(there.lock(name).tryAcquire()).isEmpty();
  }

  @Test
  void aTimeThatCannotBeIsRefused() {
    assertThatThrownBy(() -> lock(provider, Duration.ofDays(8), Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("7 days");
    assertThat(isFree()).isTrue();
  }
}
