package io.pawl;

import io.pawl.engine.Hold;
import io.pawl.engine.Loan;
import io.pawl.engine.Requests;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * A lock, or one side of a read-write lock, as a {@link Lock} of {@code java.util.concurrent}:
 * bound to the thread, reentrant (across all views of one client for the same name), without
 * conditions. Obtained from {@link DistributedLock#asJavaLock}; cheap and thread-safe.
 *
 * <p>A thread that holds the lock has a {@link Lease}, one for both sides of a read-write lock,
 * whose token and validity it can ask for here. {@code lock}, {@code lockInterruptibly} and {@code
 * tryLock} throw as the methods of {@link DistributedLock} do, and {@link LeaseLostException} when
 * this thread holds the lock under a lease that was lost.
 */
public final class JavaLock implements Lock {

  /**
   * A thread's lease, and how often the thread has entered either side. It belongs to the thread
   * alone, so that nobody has the lease any more when the thread dies while it holds the lock.
   */
  static final class Hold {
    private final Lease lease;
    private long writes;
    private long reads;

    /** The thread has left the write side, and has not been told that it shares its lease. */
    private boolean owesDowngrade;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }

  private final Requests requests;
  private final ReentrantHolds threads;
  private final boolean reads;

  JavaLock(Requests requests, ReentrantHolds threads) {
    this.requests = requests;
    this.threads = threads;
    this.reads = requests.mode() instanceof Mode.Shared;
  }

  /** Returns the lock's name. */
  public String name() {
    return requests.name();
  }

  /**
   * Returns whether the current thread holds the lock and so owes an unlock, even if its lease was
   * lost.
   */
  public boolean isHeldByCurrentThread() {
    return getHoldCount() > 0;
  }

  /** Returns how many unlocks the current thread owes. */
  public int getHoldCount() {
    Hold hold = hold();
    return hold == null ? 0 : (int) Math.min(Integer.MAX_VALUE, entries(hold));
  }

  /**
   * Returns whether the current thread holds the lock under a lease that {@linkplain Lease#isValid
   * is valid}.
   */
  public boolean isValid() {
    return isHeldByCurrentThread() && inside().lease.isValid();
  }

  /**
   * Returns if the lease is {@linkplain #isValid valid}, and throws otherwise.
   *
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   * @throws LeaseLostException when its lease was lost
   */
  public void ensureValid() {
    inside().lease.ensureValid();
  }

  /**
   * Returns the fencing token of the current thread's lease, also after a loss; see {@link
   * Lease#token}. A re-entry keeps the token.
   *
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   */
  public long token() {
    return inside().lease.token();
  }

  /**
   * Returns how long the current thread's lease stays valid if no renewal succeeds from now on.
   *
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   */
  public Duration remaining() {
    return inside().lease.remaining();
  }

  /**
   * Extends the current thread's lease, as {@link Lease#extend} says. One round trip.
   *
   * @throws IllegalArgumentException for zero or a negative length
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   * @throws LeaseLostException when its lease was lost
   * @throws StoreException when the store failed, as {@link Lease#extend} says
   */
  public void extend(Duration length) {
    inside().lease.extend(length);
  }

  /**
   * Calls {@code callback} once when the current thread's lease is lost, as {@link Lease#onLost}
   * says; never after its last unlock in time.
   *
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   */
  public void onLost(Runnable callback) {
    inside().lease.onLost(callback);
  }

  /**
   * Waits until the lock is held, ignoring interrupts; the interrupt flag is kept. One round trip
   * when it is free.
   */
  @Override
  public void lock() {
    if (!reenter()) {
      own(requests.acquireUninterruptibly());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reenter()) {
      own(requests.acquire());
    }
  }

  /**
   * Takes the lock if it is free now, and overtakes the waiters of this client; a reader does not
   * overtake a writer.
   */
  @Override
  public boolean tryLock() {
    if (wouldUpgrade(hold())) {
      return false;
    }
    return reenter() || own(requests.tryAcquire());
  }

  /** Waits for the lock for at most {@code time}; zero or less does not wait. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (wouldUpgrade(hold())) {
      return false;
    }
    Duration wait = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
    return reenter() || own(requests.tryAcquire(wait));
  }

  /**
   * Undoes one {@code lock}. A writer that goes on as a reader {@linkplain Lease#downgrade
   * downgrades} its lease. If the store fails at that, the thread has left the write side all the
   * same, and other readers may have to wait until it leaves the read side too. Instead it may
   * unlock the write side again, which repeats the downgrade and is allowed until one has
   * succeeded.
   *
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   * @throws LeaseLostException when the lease was lost meanwhile: from the last unlock, and from
   *     one by which a writer would go on as a reader
   * @throws StoreException when the store failed at a downgrade, as {@link Lease#downgrade} says
   */
  @Override
  public void unlock() {
    Hold hold = hold();
    if (reads || hold == null || !hold.owesDowngrade) {
      hold = inside();
      enter(hold, -1);
      hold.owesDowngrade |= !reads && hold.writes == 0;
    }
    if (hold.writes + hold.reads == 0) {
      threads.left(name());
      hold.lease.close();
    } else if (!reads && hold.owesDowngrade) {
      hold.lease.downgrade();
      hold.owesDowngrade = false;
    }
  }

  /** Not supported: a condition would have to be awaited across machines. */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "lock '" + name() + "' is distributed and has no conditions; use a queue or poll");
  }

  private Hold inside() {
    Hold hold = hold();
    if (hold == null || entries(hold) == 0) {
      throw new IllegalMonitorStateException(
          "lock '" + name() + "' is not held by thread " + Thread.currentThread().getName());
    }
    return hold;
  }

  private boolean reenter() {
    Hold hold = hold();
    if (hold == null) {
      return false;
    }
    if (wouldUpgrade(hold)) {
      throw new IllegalStateException(
          "lock '"
              + name()
              + "': thread "
              + Thread.currentThread().getName()
              + " reads, and would wait for itself to write; unlock the read lock first");
    }
    hold.lease.ensureValid();
    enter(hold, 1);
    return true;
  }

  private boolean wouldUpgrade(@Nullable Hold hold) {
    return hold != null && !reads && hold.writes == 0;
  }

  private long entries(Hold hold) {
    return reads ? hold.reads : hold.writes;
  }

  private void enter(Hold hold, int change) {
    if (reads) {
      hold.reads = Math.addExact(hold.reads, change);
    } else {
      hold.writes = Math.addExact(hold.writes, change);
    }
  }

  private boolean own(Optional<Loan> loan) {
    loan.ifPresent(this::own);
    return loan.isPresent();
  }

  private void own(Loan loan) {
    try {
      Hold hold = new Hold(new Lease(loan));
      enter(hold, 1);
      threads.entered(name(), hold);
    } catch (Throwable e) { // of memory: it is nobody's
      loan.drop();
      throw e;
    }
  }

  private @Nullable Hold hold() {
    return threads.of(name());
  }

  @Override
  public String toString() {
    Hold hold = hold();
    long entries = hold == null ? 0 : entries(hold);
    String state = entries == 0 ? "not held by this thread" : "held " + entries + " times";
    return "JavaLock[" + name() + ", " + requests.mode() + ", " + state + "]";
  }
}
