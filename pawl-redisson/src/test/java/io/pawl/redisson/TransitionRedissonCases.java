package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Three releases of an application side by side: Redisson's hash, both locks, Pawl's. */
abstract class TransitionRedissonCases {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(2));

  private final RedissonClient old = redisson();
  private final RedissonClient oldInBetween = redisson();
  private final Pawl pawl;
  private final Pawl otherHost;
  private final TransitionRedisson between;
  private final PawlRedisson after;

  TransitionRedissonCases(String url) {
    pawl = Pawl.connect(url);
    otherHost = Pawl.connect(url);
    between = new TransitionRedisson(PawlRedisson.over(pawl, OPTIONS), oldInBetween);
    after = PawlRedisson.over(otherHost);
    old.getKeys().flushall();
  }

  private static RedissonClient redisson() {
    Config config = new Config();
    config.useSingleServer().setAddress(Servers.redis().url());
    return Redisson.create(config);
  }

  @AfterEach
  void close() {
    old.shutdown();
    oldInBetween.shutdown();
    pawl.close(Duration.ZERO);
    otherHost.close(Duration.ZERO);
  }

  private static boolean isFree(Lock lock) {
    boolean taken = lock.tryLock();
    if (taken) {
      lock.unlock();
    }
    return taken;
  }

  private void assertExclude(Supplier<Lock> one, Supplier<Lock> other) throws Exception {
    Lock held = one.get();
    held.lock();
    assertThat(isFree(other.get())).isFalse();
    assertThat(other.get().tryLock(1, SECONDS)).isFalse();
    held.unlock();
    assertThat(isFree(other.get())).isTrue();
  }

  @Test
  void eachReleaseSharesALockWithTheNext() throws Exception {
    Supplier<Lock> first = () -> old.getLock("job");
    Supplier<Lock> second = () -> between.getLock("job");
    Supplier<Lock> third = () -> after.getLock("job");
    for (List<Supplier<Lock>> neighbours :
        List.of(
            List.of(first, second),
            List.of(second, first),
            List.of(second, third),
            List.of(third, second))) {
      assertExclude(neighbours.get(0), neighbours.get(1));
    }
    assertExclude(() -> between.getFairLock("fair"), () -> old.getFairLock("fair"));
    assertExclude(
        () -> old.getReadWriteLock("both").readLock(),
        () -> between.getReadWriteLock("both").writeLock());
    assertExclude(
        () -> between.getReadWriteLock("both").readLock(),
        () -> after.getReadWriteLock("both").writeLock());
  }

  @Test
  void aMultiLockOfTheReleaseInBetweenIsSharedWithItsNeighboursToo() throws Exception {
    Supplier<Lock> first = () -> old.getMultiLock(old.getLock("one"), old.getLock("two"));
    Supplier<Lock> second =
        () -> PawlRedisson.over(pawl).getMultiLock(between.getLock("one"), between.getLock("two"));
    Supplier<Lock> third = () -> after.getMultiLock(after.getLock("one"), after.getLock("two"));

    assertExclude(first, second);
    assertExclude(second, first);
    assertExclude(second, third);
    assertExclude(third, second);
  }

  @Test
  void bothAreKeptForTheLeaseTimeThatWasAskedFor() throws InterruptedException {
    RLock lock = between.getLock("job");
    assertThat(lock.tryLock(5, 2, SECONDS)).isTrue();
    assertThat(lock.isHeldByCurrentThread()).isTrue();

    assertThat(old.getLock("job").tryLock(20, SECONDS)).isTrue();
    assertThat(after.getLock("job").tryLock(20, SECONDS)).isTrue();

    assertThat(lock.isHeldByCurrentThread()).isFalse();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    old.getLock("job").unlock();
    after.getLock("job").unlock();
  }

  @Test
  void whereOneIsBusyTheOtherIsLeft() throws InterruptedException {
    old.getLock("job").lock();

    assertThat(between.getLock("job").tryLock()).isFalse();
    assertThat(between.getLock("job").tryLock(1, 10, SECONDS)).isFalse();
    assertThat(isFree(after.getLock("job"))).isTrue();

    old.getLock("job").unlock();
  }

  /** Redisson's is busy for longer than the lease of Pawl's, which is held first. */
  @Test
  void whoHasWaitedForLongerThanItsLeaseHoldsBothOrWaitsOn() throws Exception {
    org.redisson.api.RLock before = old.getLock("job");
    before.lock();
    RLock lock = between.getLock("job");
    CompletableFuture<Boolean> waiter =
        CompletableFuture.supplyAsync(
            () -> {
              lock.lock(2, SECONDS);
              boolean alone = !isFreeForAnotherThread(after.getLock("job"));
              lock.unlock();
              return alone;
            });
    await().until(() -> after.getLock("job").isLocked());
    RLock later = after.getLock("job");
    later.lock(); // once Pawl's lease is over
    before.unlock();

    assertThat(waiter).isNotDone();
    assertThat(lock.isLocked()).isTrue();
    later.unlock();
    assertThat(waiter.get(30, SECONDS)).isTrue();
  }

  private static boolean isFreeForAnotherThread(Lock lock) {
    return CompletableFuture.supplyAsync(() -> isFree(lock)).join();
  }

  @Test
  void whereOneOfBothWasTakenAwayTheOtherIsLeft() {
    RLock lock = between.getLock("job");
    lock.lock();
    assertThat(old.getLock("job").forceUnlock()).isTrue();
    assertThat(lock.isHeldByCurrentThread()).isFalse();
    assertThat(isFree(after.getLock("job"))).isTrue();

    lock.lock();
    assertThat(after.getLock("job").forceUnlock()).isTrue();
    await().pollInSameThread().until(() -> !lock.isHeldByCurrentThread());
    assertThat(isFree(old.getLock("job"))).isTrue();
  }

  /** The thread may have code that uses the release before, or the one after. */
  @Test
  void whoAsksKeepsWhatItHasTakenByItself() {
    org.redisson.api.RLock theirs = oldInBetween.getLock("job");
    RLock ours = PawlRedisson.over(pawl, OPTIONS).getLock("job");
    RLock both = between.getLock("job");

    theirs.lock();
    assertThat(both.isHeldByCurrentThread()).isFalse();
    assertThat(isFree(old.getLock("job"))).isFalse();
    theirs.unlock();

    ours.lock();
    assertThat(both.getHoldCount()).isZero();
    assertThat(isFree(after.getLock("job"))).isFalse();
    both.lock();
    assertThat(after.getLock("job").forceUnlock()).isTrue();
    theirs.lock();
    await().pollInSameThread().until(() -> !both.isHeldByCurrentThread());
    assertThat(theirs.getHoldCount()).isEqualTo(1);
    theirs.unlock();
    assertThat(isFree(old.getLock("job"))).isTrue();
  }

  @Test
  void whoAsksForLocksThatRanOutKeepsWhatItHasTakenByItselfSince() throws InterruptedException {
    org.redisson.api.RLock theirs = oldInBetween.getLock("job");
    RLock both = between.getLock("job");
    assertThat(both.tryLock(5, 1, SECONDS)).isTrue();

    await()
        .during(Duration.ofSeconds(1))
        .until(() -> !theirs.isLocked() && !after.getLock("job").isLocked());
    theirs.lock();

    assertThat(both.isHeldByCurrentThread()).isFalse();
    assertThat(theirs.isHeldByCurrentThread()).isTrue();
    theirs.unlock();
  }

  @Test
  void bothAreTakenFromWhoeverHoldsThem() {
    between.getLock("job").lock(10, SECONDS);

    assertThat(between.getLock("job").isLocked()).isTrue();
    assertThat(between.getLock("job").getHoldCount()).isEqualTo(1);
    assertThat(between.getLock("job").forceUnlock()).isTrue();

    assertThat(isFree(old.getLock("job"))).isTrue();
    assertThat(isFree(after.getLock("job"))).isTrue();
  }
}
