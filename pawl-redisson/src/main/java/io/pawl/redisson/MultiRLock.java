package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Several locks as one, taken in the order of their names, and of their stores' addresses where
 * names are alike, so that two of these never wait for each other in a circle. Where one of them is
 * such a lock itself, its locks are taken in that order too. Each is the thread's as if it had been
 * taken by itself.
 */
final class MultiRLock implements RLock {

  private static final long UNBOUNDED = Long.MAX_VALUE;

  private static final Comparator<RLock> ORDER =
      Comparator.comparing(RLock::getName).thenComparing(MultiRLock::storeOf);

  private final List<RLock> locks;

  MultiRLock(List<RLock> locks) {
    if (locks.isEmpty()) {
      throw new IllegalArgumentException("locks: there are none; name at least one");
    }
    this.locks = locks.stream().flatMap(MultiRLock::each).sorted(ORDER).toList();
  }

  private static Stream<RLock> each(RLock lock) {
    return lock instanceof MultiRLock several ? several.locks.stream() : Stream.of(lock);
  }

  private static String storeOf(RLock lock) {
    RLock ours = lock instanceof BothRLocks both ? both.ours() : lock;
    return ours instanceof PawlRLock known ? known.store() : "";
  }

  /** Takes one lock, waiting for so many nanoseconds at most. */
  private interface Step {
    boolean take(RLock lock, long nanos) throws InterruptedException;
  }

  /**
   * Takes all or none: one may run out, or be lost, while later ones are waited for.
   *
   * @param leaseNanos how long each is kept from the end of the wait on; 0 or less until it is left
   */
  private boolean takeAll(long waitNanos, long leaseNanos, Step step) throws InterruptedException {
    long since = System.nanoTime();
    while (true) {
      if (!tryOnce(since, waitNanos, step)) {
        return false;
      }
      if (areHeldFor(leaseNanos)) {
        return true;
      }
      leave(locks.size()); // one is lost
      if (left(since, waitNanos) <= 0) {
        return false;
      }
    }
  }

  private boolean tryOnce(long since, long waitNanos, Step step) throws InterruptedException {
    int taken = 0;
    try {
      for (RLock lock : locks) {
        if (!step.take(lock, left(since, waitNanos))) {
          leave(taken);
          return false;
        }
        taken++;
      }
      return true;
    } catch (InterruptedException | RuntimeException | Error e) {
      leave(taken);
      throw e;
    }
  }

  private static long left(long since, long waitNanos) {
    return waitNanos == UNBOUNDED
        ? UNBOUNDED
        : Math.max(0, waitNanos - (System.nanoTime() - since));
  }

  /** Whether none was lost; where one cannot say, all are left. */
  private boolean areHeldFor(long leaseNanos) {
    try {
      return locks.stream().allMatch(lock -> PawlRLock.isHeldFor(lock, leaseNanos))
          && isHeldByCurrentThread();
    } catch (RuntimeException | Error e) {
      leave(locks.size());
      throw e;
    }
  }

  /** The first so many, as far as they are held, or cannot say. */
  private void leave(int taken) {
    for (RLock lock : locks.subList(0, taken)) {
      if (mayBeHeld(lock)) {
        unlocked(lock, null);
      }
    }
  }

  private static boolean mayBeHeld(RLock lock) {
    try {
      return lock.isHeldByCurrentThread();
    } catch (RuntimeException e) {
      return true;
    }
  }

  private static @Nullable RuntimeException unlocked(
      RLock lock, @Nullable RuntimeException before) {
    try {
      lock.unlock();
      return before;
    } catch (RuntimeException e) {
      if (before == null) {
        return e;
      }
      before.addSuppressed(e);
      return before;
    }
  }

  private void uninterruptibly(long leaseNanos) {
    try {
      takeAll(
          UNBOUNDED,
          leaseNanos,
          (lock, nanos) -> {
            lock.lock(leaseNanos, NANOSECONDS);
            return true;
          });
    } catch (InterruptedException e) {
      throw new AssertionError("nothing here is interrupted", e);
    }
  }

  @Override
  public String getName() {
    return locks.stream().map(RLock::getName).collect(Collectors.joining(", "));
  }

  @Override
  public void lock() {
    uninterruptibly(0);
  }

  @Override
  public void lock(long leaseTime, TimeUnit unit) {
    uninterruptibly(unit.toNanos(leaseTime));
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lockInterruptibly(0, NANOSECONDS);
  }

  @Override
  public void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException {
    takeAll(
        UNBOUNDED,
        unit.toNanos(leaseTime),
        (lock, nanos) -> {
          lock.lockInterruptibly(leaseTime, unit);
          return true;
        });
  }

  @Override
  public boolean tryLock() {
    try {
      return takeAll(0, 0, (lock, nanos) -> lock.tryLock());
    } catch (InterruptedException e) {
      throw new AssertionError("nothing here waits", e);
    }
  }

  @Override
  public boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException {
    return tryLock(waitTime, 0, unit);
  }

  @Override
  public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
    long lease = unit.toNanos(leaseTime);
    return takeAll(
        Math.max(0, unit.toNanos(waitTime)),
        lease,
        (lock, nanos) -> lock.tryLock(nanos, lease, NANOSECONDS));
  }

  /** Unlocks all, each though another is not held any more or fails. */
  @Override
  public void unlock() {
    @Nullable RuntimeException failure = null;
    for (RLock lock : locks) {
      failure = unlocked(lock, failure);
    }
    if (failure != null) {
      throw failure;
    }
  }

  @Override
  public boolean forceUnlock() {
    boolean held = false;
    for (RLock lock : locks) {
      held |= lock.forceUnlock();
    }
    return held;
  }

  /** Whether anybody holds one of them. */
  @Override
  public boolean isLocked() {
    return locks.stream().anyMatch(RLock::isLocked);
  }

  /** Whether this thread holds all. */
  @Override
  public boolean isHeldByCurrentThread() {
    return locks.stream().allMatch(RLock::isHeldByCurrentThread);
  }

  @Override
  public int getHoldCount() {
    return locks.stream().mapToInt(RLock::getHoldCount).min().orElse(0);
  }

  @Override
  public Condition newCondition() {
    return locks.get(0).newCondition();
  }

  @Override
  public String toString() {
    return "RLock" + locks;
  }
}
