package io.pawl.redisson;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.pawl.concurrent.BothLocks;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.redisson.api.RExpirable;

/** Pawl's lock and Redisson's. */
final class BothRLocks implements RLock {

  private final RLock ours;
  private final org.redisson.api.RLock theirs;
  private final Entries entries;
  private final String pair;

  /**
   * @param entries of all pairs
   * @param pair what the two are called there
   */
  BothRLocks(RLock ours, org.redisson.api.RLock theirs, Entries entries, String pair) {
    this.ours = ours;
    this.theirs = theirs;
    this.entries = entries;
    this.pair = pair;
  }

  RLock ours() {
    return ours;
  }

  private Lock kept(long leaseTime, TimeUnit unit) {
    long lease = unit.toNanos(leaseTime);
    return new BothLocks(
        new LeasedLock(
            ours,
            () -> ours.lock(lease, NANOSECONDS),
            () -> ours.lockInterruptibly(lease, NANOSECONDS),
            wait -> ours.tryLock(wait, lease, NANOSECONDS)),
        new LeasedLock(
            theirs,
            () -> theirs.lock(lease, NANOSECONDS),
            () -> theirs.lockInterruptibly(lease, NANOSECONDS),
            wait -> theirs.tryLock(wait, lease, NANOSECONDS)),
        () -> PawlRLock.isHeldFor(ours, lease));
  }

  /** The time of Redisson's, as its own multi-lock sets it when it has all of its locks. */
  void beginAnewThere(long leaseNanos) {
    if (theirs instanceof RExpirable known && theirs.isHeldByCurrentThread()) {
      known.expire(Duration.ofNanos(leaseNanos));
    }
  }

  private Lock usual() {
    return new BothLocks(ours, theirs, ours::isHeldByCurrentThread);
  }

  private boolean entered(boolean taken, long leaseNanos) {
    if (taken) {
      entries.entered(pair, leaseNanos);
    }
    return taken;
  }

  @Override
  public String getName() {
    return ours.getName();
  }

  @Override
  public void lock() {
    usual().lock();
    entries.entered(pair, 0);
  }

  @Override
  public void lock(long leaseTime, TimeUnit unit) {
    kept(leaseTime, unit).lock();
    entries.entered(pair, unit.toNanos(leaseTime));
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    usual().lockInterruptibly();
    entries.entered(pair, 0);
  }

  @Override
  public void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException {
    kept(leaseTime, unit).lockInterruptibly();
    entries.entered(pair, unit.toNanos(leaseTime));
  }

  @Override
  public boolean tryLock() {
    return entered(usual().tryLock(), 0);
  }

  @Override
  public boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException {
    return entered(usual().tryLock(waitTime, unit), 0);
  }

  @Override
  public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
    return entered(kept(leaseTime, unit).tryLock(waitTime, unit), unit.toNanos(leaseTime));
  }

  @Override
  public void unlock() {
    entries.left(pair);
    usual().unlock();
  }

  /** Takes both from whoever holds them. */
  @Override
  public boolean forceUnlock() {
    return ours.forceUnlock() | theirs.forceUnlock();
  }

  @Override
  public boolean isLocked() {
    return ours.isLocked() || theirs.isLocked();
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return getHoldCount() > 0;
  }

  /**
   * Where one of the two was lost, the other is left as often as both were entered: nobody would
   * unlock it. What the thread has taken of either by itself stays.
   */
  @Override
  public int getHoldCount() {
    int held = Math.min(ours.getHoldCount(), theirs.getHoldCount());
    while (held == 0 && entries.of(pair) > 0) {
      entries.left(pair);
      if (ours.isHeldByCurrentThread()) {
        ours.unlock();
      }
      if (theirs.isHeldByCurrentThread()) {
        theirs.unlock();
      }
    }
    return held;
  }

  @Override
  public Condition newCondition() {
    return ours.newCondition();
  }

  @Override
  public String toString() {
    return "[" + ours + ", " + theirs + "]";
  }
}
