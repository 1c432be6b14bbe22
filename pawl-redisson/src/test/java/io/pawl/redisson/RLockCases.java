package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What users of Redisson's locks rely on. */
abstract class RLockCases {

  private static final LockOptions OPTIONS = LockOptions.defaults().lease(Duration.ofSeconds(2));
  private static final AtomicInteger names = new AtomicInteger();

  private final Pawl here;
  private final Pawl there;
  private final PawlRedisson redisson;
  private final PawlRedisson elsewhere;
  private final String name = "lock-" + names.incrementAndGet();
  private final RFencedLock lock;
  private final RFencedLock other;

  RLockCases(String url) {
    here = Pawl.connect(url);
    there = Pawl.connect(url);
    redisson = PawlRedisson.over(here, OPTIONS);
    elsewhere = PawlRedisson.over(there, OPTIONS);
    lock = redisson.getFencedLock(name);
    other = elsewhere.getFencedLock(name);
  }

  @AfterEach
  void close() {
    here.close(Duration.ZERO); // some cases leave locks held
    there.close(Duration.ZERO);
  }

  private static boolean isFreeFor(RLock lock) {
    boolean taken = lock.tryLock();
    if (taken) {
      lock.unlock();
    }
    return taken;
  }

  private static boolean isFreeForAnotherThread(RLock lock) {
    return CompletableFuture.supplyAsync(() -> isFreeFor(lock)).join();
  }

  @Test
  void oneThreadOfOneHostHoldsALock() {
    assertThat(lock.getName()).isEqualTo(name);
    assertThat(lock.isLocked()).isFalse();
    lock.lock();

    assertThat(lock.isHeldByCurrentThread()).isTrue();
    assertThat(other.isHeldByCurrentThread()).isFalse();
    assertThat(other.isLocked()).isTrue();
    assertThat(isFreeFor(other)).isFalse();
    assertThat(isFreeForAnotherThread(lock)).isFalse();

    lock.unlock();
    assertThat(lock.isHeldByCurrentThread()).isFalse();
    assertThat(isFreeFor(other)).isTrue();
  }

  /** At any moment, say between a look at its lease and the entry. */
  @Test
  void aLockThatEndsAsItsThreadTakesItAgainIsTakenAnew() throws InterruptedException {
    for (int round = 0; round < 20; round++) {
      long over = System.nanoTime() + MILLISECONDS.toNanos(120);
      lock.lock(100, MILLISECONDS);
      boolean taken = true;
      while (taken && System.nanoTime() - over < 0) {
        taken = lock.tryLock(1, SECONDS);
      }
      assertThat(taken).isTrue();
      while (lock.isHeldByCurrentThread()) {
        lock.unlock();
      }
    }
  }

  @Test
  void aThreadOwesAsManyUnlocksAsItHasLocked() throws InterruptedException {
    lock.lock();
    assertThat(redisson.getLock(name).tryLock()).isTrue();
    assertThat(lock.tryLock(1, SECONDS)).isTrue();
    assertThat(lock.tryLock(1, 10, SECONDS)).isTrue();
    assertThat(lock.getHoldCount()).isEqualTo(4);

    lock.unlock();
    lock.unlock();
    redisson.getLock(name).unlock();
    assertThat(isFreeFor(other)).isFalse();
    lock.unlock();
    assertThat(lock.getHoldCount()).isZero();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void onlyTheThreadThatHoldsALockUnlocksIt() {
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    lock.lock();

    assertThatThrownBy(() -> CompletableFuture.runAsync(lock::unlock).join())
        .hasCauseInstanceOf(IllegalMonitorStateException.class);
    assertThatThrownBy(other::unlock).isInstanceOf(IllegalMonitorStateException.class);

    assertThat(isFreeFor(other)).isFalse();
    lock.unlock();
  }

  @Test
  void aLockWithoutALeaseTimeIsRenewed() throws InterruptedException {
    lock.lock();
    assertThat(other.tryLock(5, SECONDS)).isFalse();
    lock.unlock();

    lock.lock(-1, SECONDS);
    assertThat(other.tryLock(5, SECONDS)).isFalse();
    lock.unlock();
  }

  @Test
  void aLockWithALeaseTimeEndsAfterItAndMayBeTakenAnew() {
    lock.lock(300, MILLISECONDS);
    other.lock();

    assertThat(lock.isHeldByCurrentThread()).isFalse();
    assertThat(lock.getHoldCount()).isZero();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lock.tryLock()).isFalse();

    other.unlock();
    lock.lock();
    assertThat(lock.isHeldByCurrentThread()).isTrue();
    lock.unlock();
  }

  @Test
  void anUnlockAfterTheLeaseSaysThatItWasLost() throws InterruptedException {
    assertThat(lock.tryLock(0, 300, MILLISECONDS)).isTrue();
    other.lock();

    assertThatThrownBy(lock::unlock)
        .isInstanceOf(IllegalMonitorStateException.class)
        .hasCauseInstanceOf(LeaseLostException.class);
    other.unlock();
    assertThat(isFreeFor(lock)).isTrue();
  }

  @Test
  void aTryEndsWithoutTheLockAfterItsTime() throws InterruptedException {
    lock.lock();

    assertThat(other.tryLock(1, SECONDS)).isFalse();
    assertThat(other.tryLock(1, 10, SECONDS)).isFalse();
    assertThat(other.tryLockAndGetToken(1, SECONDS)).isNull();

    lock.unlock();
  }

  @Test
  void aHolderCanBeMadeToGiveWay() {
    assertThat(lock.forceUnlock()).isFalse();
    lock.lock();

    assertThat(other.forceUnlock()).isTrue();

    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void tokensGrow() throws InterruptedException {
    assertThat(lock.getToken()).isNull();
    long first = lock.lockAndGetToken();
    assertThat(lock.getToken()).isEqualTo(first);
    lock.unlock();
    long second = other.lockAndGetToken(10, SECONDS);
    other.unlock();
    Long third = lock.tryLockAndGetToken();
    lock.unlock();
    Long fourth = lock.tryLockAndGetToken(1, 10, SECONDS);
    lock.unlock();

    assertThat(first).isLessThan(second);
    assertThat(second).isLessThan(third);
    assertThat(third).isLessThan(fourth);
    assertThat(other.getToken()).isGreaterThanOrEqualTo(fourth);
  }

  @Test
  void aWaitCanBeInterruptedUnlessItIsPlainLock() {
    Thread.currentThread().interrupt();
    assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> lock.lockInterruptibly(10, SECONDS))
        .isInstanceOf(InterruptedException.class);

    Thread.currentThread().interrupt();
    assertThat(lock.tryLockAndGetToken(1, SECONDS)).isNull();
    lock.lock();
    assertThat(Thread.interrupted()).isTrue();
    lock.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void fairLocksExcludeEachOtherAndPlainOnesOfTheirName() {
    RLock fair = redisson.getFairLock(name);
    fair.lock();

    assertThat(isFreeFor(elsewhere.getFairLock(name))).isFalse();
    assertThat(isFreeFor(other)).isFalse();

    fair.unlock();
    assertThat(isFreeFor(other)).isTrue();
  }

  @Test
  void readersShareAndAWriterExcludes() {
    RReadWriteLock both = redisson.getReadWriteLock(name);
    RReadWriteLock theirs = elsewhere.getReadWriteLock(name);
    both.readLock().lock();
    assertThat(isFreeFor(theirs.readLock())).isTrue();
    assertThat(isFreeFor(theirs.writeLock())).isFalse();
    both.readLock().unlock();

    both.writeLock().lock();
    both.readLock().lock();
    assertThat(isFreeFor(theirs.readLock())).isFalse();
    both.writeLock().unlock();
    assertThat(isFreeFor(theirs.readLock())).isTrue();
    assertThat(isFreeFor(theirs.writeLock())).isFalse();
    both.readLock().unlock();
    assertThat(isFreeFor(theirs.writeLock())).isTrue();
  }

  @Test
  void aLossIsToldByTheFirstUnlockHoweverOftenTheThreadHadLocked() throws InterruptedException {
    assertThat(lock.tryLock(1, 300, MILLISECONDS)).isTrue();
    lock.lock();
    other.lock();

    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    assertThat(lock.getHoldCount()).isZero();
    other.unlock();
  }

  @Test
  void aThreadWhoseReadingRanOutMayWriteAndTheOtherWayRound() {
    RReadWriteLock both = redisson.getReadWriteLock(name);
    RLock theirWrites = elsewhere.getReadWriteLock(name).writeLock();
    both.readLock().lock(300, MILLISECONDS);
    theirWrites.lock();
    theirWrites.unlock();

    assertThat(both.writeLock().tryLock()).isTrue();
    both.writeLock().unlock();
    both.writeLock().lock(300, MILLISECONDS);
    theirWrites.lock();
    theirWrites.unlock();
    both.readLock().lock();
    both.readLock().unlock();
  }

  @Test
  void eachSideIsLockedAndEndedByItself() {
    RReadWriteLock both = redisson.getReadWriteLock(name);
    RReadWriteLock theirs = elsewhere.getReadWriteLock(name);
    both.writeLock().lock();
    assertThat(theirs.readLock().isLocked()).isFalse();
    assertThat(theirs.readLock().forceUnlock()).isFalse();
    assertThat(theirs.writeLock().isLocked()).isTrue();
    both.writeLock().unlock();

    both.readLock().lock();
    assertThat(theirs.writeLock().isLocked()).isFalse();
    assertThat(theirs.readLock().isLocked()).isTrue();
    assertThat(theirs.readLock().forceUnlock()).isTrue();
    assertThat(isFreeFor(theirs.writeLock())).isTrue();
  }

  @Test
  void leaseTimesThatCannotBeAreRefused() {
    assertThatThrownBy(() -> lock.lock(1, MILLISECONDS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> lock.tryLock(1, 8, TimeUnit.DAYS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> redisson.getLock("line\nbreak"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
