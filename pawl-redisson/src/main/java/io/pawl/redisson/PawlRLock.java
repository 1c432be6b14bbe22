package io.pawl.redisson;

import io.pawl.JavaLock;
import io.pawl.JavaReadWriteLock;
import io.pawl.LockSnapshot;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * A {@link JavaLock} that forgets a lease that was lost, as Redisson does: the thread does not hold
 * it any more, owes no unlock, and may take the lock anew.
 */
final class PawlRLock implements RFencedLock {

  /** Which part of its time may have passed as a lock is said to be taken. */
  private static final int MOST_PASSED = 16;

  /** Shorter than any lease: to extend by it renews the lease once, for its whole length. */
  private static final Duration ONE_RENEWAL = Duration.ofMillis(1);

  private final Pawl pawl;
  private final LockOptions options;
  private final LeftToEnd leftToEnd;
  private final boolean reads;
  private final JavaReadWriteLock both;
  private final JavaLock usual;

  /**
   * @param leftToEnd the client's
   * @param reads whether it is the read side of its name; the write side is the plain lock
   */
  PawlRLock(Pawl pawl, String name, LockOptions options, LeftToEnd leftToEnd, boolean reads) {
    this.pawl = pawl;
    this.options = options;
    this.leftToEnd = leftToEnd;
    this.reads = reads;
    this.both = pawl.readWriteLock(name, options).asJavaReadWriteLock();
    this.usual = side(both);
  }

  private JavaLock side(JavaReadWriteLock of) {
    return reads ? of.readLock() : of.writeLock();
  }

  /** The address of its store. */
  String store() {
    return pawl.toString();
  }

  /** Takes a lock, and answers whether it could. */
  private interface Taking<X extends Exception> {
    boolean take() throws X;
  }

  /** Anew where the thread's lease is lost between a look at it and the entry. */
  private <X extends Exception> boolean taken(Taking<X> taking) throws X {
    try {
      while (true) {
        forgetLost();
        try {
          return taking.take();
        } catch (LeaseLostException e) {
          // which is forgotten
        }
      }
    } finally {
      leftToEnd.leaves(this); // unless it is taken now
    }
  }

  /** As Redisson has it, a lease time that is no time asks for a lease that is renewed. */
  private JavaLock kept(long leaseTime, TimeUnit unit) {
    if (leaseTime <= 0) {
      return usual;
    }
    LockOptions ending = options.lease(Duration.ofNanos(unit.toNanos(leaseTime))).renewal(false);
    JavaLock kept = side(pawl.readWriteLock(getName(), ending).asJavaReadWriteLock());
    leftToEnd.takes(this); // last: what is refused before leaves nothing
    return kept;
  }

  /** Of both sides, since a thread has one lease for them. */
  private void forgetLost() {
    forgetLost(both.readLock());
    forgetLost(both.writeLock());
  }

  /** Whether the current thread has either side; a lease that was lost is forgotten. */
  boolean isTaken() {
    forgetLost();
    return both.readLock().isHeldByCurrentThread() || both.writeLock().isHeldByCurrentThread();
  }

  /**
   * Whether the current thread holds {@code lock}, which it has just taken for a time, and then
   * waited for another: that time begins anew where much of it has passed. A re-entry changes no
   * time. One round trip where it begins anew.
   *
   * @param leaseNanos the time; 0 or less for none
   */
  static boolean isHeldFor(RLock lock, long leaseNanos) {
    BothRLocks pair = lock instanceof BothRLocks both ? both : null;
    RLock ours = pair == null ? lock : pair.ours();
    boolean anew = leaseNanos > 0 && ours instanceof PawlRLock known && known.beginAnew(leaseNanos);
    if (anew && pair != null) {
      pair.beginAnewThere(leaseNanos);
    }
    return lock.isHeldByCurrentThread();
  }

  /** Says whether its time has begun anew. */
  private boolean beginAnew(long leaseNanos) {
    forgetLost();
    int entries = both.readLock().getHoldCount() + both.writeLock().getHoldCount();
    boolean isFirst = entries == 1 && usual.isHeldByCurrentThread();
    if (isFirst && usual.remaining().toNanos() < leaseNanos - leaseNanos / MOST_PASSED) {
      try {
        usual.extend(ONE_RENEWAL);
        return true;
      } catch (LeaseLostException e) {
        forgetLost();
      }
    }
    return false;
  }

  private static void forgetLost(JavaLock side) {
    while (side.isHeldByCurrentThread() && !side.isValid()) {
      try {
        side.unlock();
      } catch (LeaseLostException e) {
        // as was to be expected
      }
    }
  }

  @Override
  public String getName() {
    return usual.name();
  }

  @Override
  public void lock() {
    lock(0, TimeUnit.MILLISECONDS);
  }

  @Override
  public void lock(long leaseTime, TimeUnit unit) {
    JavaLock kept = kept(leaseTime, unit);
    taken(
        () -> {
          kept.lock();
          return true;
        });
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    lockInterruptibly(0, TimeUnit.MILLISECONDS);
  }

  @Override
  public void lockInterruptibly(long leaseTime, TimeUnit unit) throws InterruptedException {
    JavaLock kept = kept(leaseTime, unit);
    taken(
        () -> {
          kept.lockInterruptibly();
          return true;
        });
  }

  @Override
  public boolean tryLock() {
    return taken(usual::tryLock);
  }

  @Override
  public boolean tryLock(long waitTime, TimeUnit unit) throws InterruptedException {
    return tryLock(waitTime, 0, unit);
  }

  @Override
  public boolean tryLock(long waitTime, long leaseTime, TimeUnit unit) throws InterruptedException {
    JavaLock kept = kept(leaseTime, unit);
    return taken(() -> kept.tryLock(waitTime, unit));
  }

  @Override
  public void unlock() {
    try {
      if (usual.isHeldByCurrentThread()) {
        usual.ensureValid(); // an inner unlock would not tell of a loss
      }
      usual.unlock();
    } catch (LeaseLostException e) {
      forgetLost();
      throw (IllegalMonitorStateException)
          new IllegalMonitorStateException(
                  e.getMessage() + "; what it protected may have been changed by another holder")
              .initCause(e);
    } finally {
      leftToEnd.leaves(this);
    }
  }

  @Override
  public boolean forceUnlock() {
    boolean held = false;
    for (LockSnapshot.Claimant holder : holders()) {
      held |= pawl.evict(getName(), holder.token());
    }
    return held;
  }

  @Override
  public boolean isLocked() {
    return !holders().isEmpty();
  }

  private List<LockSnapshot.Claimant> holders() {
    return pawl.inspect(getName()).holders().stream()
        .filter(each -> each.isShared() == reads)
        .toList();
  }

  @Override
  public boolean isHeldByCurrentThread() {
    return getHoldCount() > 0;
  }

  @Override
  public int getHoldCount() {
    forgetLost();
    return usual.getHoldCount();
  }

  @Override
  public @Nullable Long getToken() {
    if (isHeldByCurrentThread()) {
      return usual.token();
    }
    long last = pawl.inspect(getName()).lastToken();
    return last == 0 ? null : last;
  }

  @Override
  public Long lockAndGetToken() {
    lock();
    return usual.token();
  }

  @Override
  public Long lockAndGetToken(long leaseTime, TimeUnit unit) {
    lock(leaseTime, unit);
    return usual.token();
  }

  @Override
  public @Nullable Long tryLockAndGetToken() {
    return tryLock() ? usual.token() : null;
  }

  @Override
  public @Nullable Long tryLockAndGetToken(long waitTime, TimeUnit unit) {
    return tryLockAndGetToken(waitTime, 0, unit);
  }

  @Override
  public @Nullable Long tryLockAndGetToken(long waitTime, long leaseTime, TimeUnit unit) {
    try {
      return tryLock(waitTime, leaseTime, unit) ? usual.token() : null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  @Override
  public Condition newCondition() {
    return usual.newCondition();
  }

  @Override
  public String toString() {
    return "RLock[" + usual + "]";
  }
}
