package io.pawl;

import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * One side of a lock, bound to threads: reentrancy over leases. A thread has one lease for both
 * sides; what it has entered how often is kept by the engine.
 */
final class JavaLock implements Lock {

  /** A thread inside a lock. */
  record Owned(Thread thread, String name) {}

  /** A thread's lease, and how often it has entered either side; only that thread touches it. */
  static final class Hold {
    private final Lease lease;
    private long writes;
    private long reads;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }

  private final Requests requests;
  private final boolean reads;

  JavaLock(Requests requests) {
    this.requests = requests;
    this.reads = requests.key().mode() instanceof Mode.Shared;
  }

  /** Waits without regard to interrupts; the flag is kept. */
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
   * Takes the lock if it is free now, overtaking whoever waits in this client; no reader a writer.
   */
  @Override
  public boolean tryLock() {
    if (wouldUpgrade(hold())) {
      return false;
    }
    return reenter() || own(requests.tryAcquire());
  }

  /** Waits for at most {@code time}; zero and less do not wait. */
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
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   * @throws LeaseLostException from the last unlock when the lease was lost meanwhile
   */
  @Override
  public void unlock() {
    Hold hold = hold();
    if (hold == null || entries(hold) == 0) {
      throw new IllegalMonitorStateException(
          "lock '" + name() + "' is not held by thread " + Thread.currentThread().getName());
    }
    enter(hold, -1);
    if (hold.writes + hold.reads == 0) {
      requests.engine().reentrantHolds().remove(owned());
      hold.lease.close();
    } else if (!reads && hold.writes == 0) {
      hold.lease.downgrade();
    }
  }

  /** Unsupported: a condition would have to be awaited across machines. */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "lock '" + name() + "' is distributed and has no conditions; use a queue or poll");
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

  private boolean own(Optional<Lease> lease) {
    lease.ifPresent(this::own);
    return lease.isPresent();
  }

  private void own(Lease lease) {
    Hold hold = new Hold(lease);
    enter(hold, 1);
    requests.engine().reentrantHolds().put(owned(), hold);
  }

  private @Nullable Hold hold() {
    return requests.engine().reentrantHolds().get(owned());
  }

  private Owned owned() {
    return new Owned(Thread.currentThread(), name());
  }

  private String name() {
    return requests.key().name();
  }

  @Override
  public String toString() {
    Hold hold = hold();
    long entries = hold == null ? 0 : entries(hold);
    String state = entries == 0 ? "not held by this thread" : "held " + entries + " times";
    return "JavaLock[" + name() + ", " + requests.key().mode() + ", " + state + "]";
  }
}
