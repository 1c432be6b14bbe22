package io.pawl;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/** Reentrancy by thread over leases; who has entered how often is kept by the engine. */
final class JavaLock implements Lock {

  /** A thread inside a lock. */
  record Owned(Thread thread, String name) {}

  /** A lease and how often its thread has entered; only that thread touches it. */
  static final class Hold {
    private final Lease lease;
    private long entries = 1;

    Hold(Lease lease) {
      this.lease = lease;
    }
  }

  private final Engine engine;
  private final Engine.LineKey key;

  JavaLock(Engine engine, Engine.LineKey key) {
    this.engine = engine;
    this.key = key;
  }

  /** Waits without regard to interrupts; the flag is kept. */
  @Override
  public void lock() {
    if (!reenter()) {
      Waiter waiter = Waiter.blocking(engine, key.name(), true);
      engine.enter(key, waiter, Runnable::run);
      own(waiter.awaitUninterruptibly().orElseThrow());
    }
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (!reenter()) {
      own(new DistributedLock(engine, key.name(), key.options()).acquire());
    }
  }

  /** Takes the lock if it is free now, overtaking whoever waits in this client. */
  @Override
  public boolean tryLock() {
    if (reenter()) {
      return true;
    }
    Waiter waiter = Waiter.blocking(engine, key.name(), false);
    engine.enter(key, waiter, Runnable::run);
    return own(waiter.awaitUninterruptibly());
  }

  /** Waits for at most {@code time}; zero and less do not wait. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (reenter()) {
      return true;
    }
    Duration wait = Duration.ofNanos(Math.max(0, unit.toNanos(time)));
    return own(new DistributedLock(engine, key.name(), key.options()).tryAcquire(wait));
  }

  /**
   * @throws IllegalMonitorStateException when the current thread does not hold the lock
   * @throws LeaseLostException from the last unlock when the lease was lost meanwhile
   */
  @Override
  public void unlock() {
    Hold hold = hold();
    if (hold == null) {
      throw new IllegalMonitorStateException(
          "lock '" + key.name() + "' is not held by thread " + Thread.currentThread().getName());
    }
    if (--hold.entries == 0) {
      engine.reentrantHolds().remove(owned());
      hold.lease.close();
    }
  }

  /** Unsupported: a condition would have to be awaited across machines. */
  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException(
        "lock '" + key.name() + "' is distributed and has no conditions; use a queue or poll");
  }

  private boolean reenter() {
    Hold hold = hold();
    if (hold == null) {
      return false;
    }
    hold.lease.ensureValid();
    hold.entries = Math.addExact(hold.entries, 1);
    return true;
  }

  private boolean own(Optional<Lease> lease) {
    lease.ifPresent(this::own);
    return lease.isPresent();
  }

  private void own(Lease lease) {
    engine.reentrantHolds().put(owned(), new Hold(lease));
  }

  private @Nullable Hold hold() {
    return engine.reentrantHolds().get(owned());
  }

  private Owned owned() {
    return new Owned(Thread.currentThread(), key.name());
  }

  @Override
  public String toString() {
    Hold hold = hold();
    String state = hold == null ? "not held by this thread" : "held " + hold.entries + " times";
    return "JavaLock[" + key.name() + ", " + state + "]";
  }
}
