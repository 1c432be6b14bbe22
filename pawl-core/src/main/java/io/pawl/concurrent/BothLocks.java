package io.pawl.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Two locks that are taken in turn and left in reverse: both or none. As thread-safe as they are.
 */
public final class BothLocks implements Lock {

  private final Lock first;
  private final Lock second;
  private final BooleanSupplier firstIsHeld;

  /**
   * @param firstIsHeld whether this thread holds the first still: it may have run out while the
   *     second was waited for. Where it throws, both are left.
   */
  public BothLocks(Lock first, Lock second, BooleanSupplier firstIsHeld) {
    this.first = first;
    this.second = second;
    this.firstIsHeld = firstIsHeld;
  }

  /** Takes a lock, and answers whether it could. */
  private interface Taking<X extends Exception> {
    boolean take() throws X;
  }

  @Override
  public void lock() {
    do {
      first.lock();
    } while (!alsoTake(
        () -> {
          second.lock();
          return true;
        }));
  }

  @Override
  public void lockInterruptibly() throws InterruptedException {
    do {
      first.lockInterruptibly();
    } while (!alsoTake(
        () -> {
          second.lockInterruptibly();
          return true;
        }));
  }

  @Override
  public boolean tryLock() {
    return first.tryLock() && alsoTake(second::tryLock);
  }

  /** Waits for at most {@code time} for both together. */
  @Override
  public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
    long wait = unit.toNanos(time);
    long asked = System.nanoTime();
    for (long left = wait; ; left = Math.max(0, wait - (System.nanoTime() - asked))) {
      if (!first.tryLock(left, TimeUnit.NANOSECONDS)) {
        return false;
      }
      long rest = Math.max(0, wait - (System.nanoTime() - asked));
      if (alsoTake(() -> second.tryLock(rest, TimeUnit.NANOSECONDS))) {
        return true;
      }
      if (System.nanoTime() - asked >= wait) {
        return false;
      }
    }
  }

  /** False where it is busy, or came when the first was lost: nothing is held then. */
  private <X extends Exception> boolean alsoTake(Taking<X> other) throws X {
    boolean taken = false;
    Throwable failure = null;
    try {
      taken = other.take();
    } catch (Throwable e) {
      failure = e;
      throw e;
    } finally {
      if (!taken) {
        leaveFirst(failure);
      }
    }
    if (!taken) {
      return false;
    }
    boolean both = false;
    try {
      both = firstIsHeld.getAsBoolean();
    } finally {
      if (!both) {
        leaveBoth();
      }
    }
    return both;
  }

  private void leaveBoth() {
    try {
      second.unlock();
    } finally {
      leaveLost();
    }
  }

  private void leaveLost() {
    try {
      first.unlock();
    } catch (RuntimeException e) {
      // it is not held any more, which is known
    }
  }

  private void leaveFirst(@Nullable Throwable failure) {
    try {
      first.unlock();
    } catch (RuntimeException e) {
      if (failure == null) {
        throw e;
      }
      failure.addSuppressed(e);
    }
  }

  @Override
  public void unlock() {
    Throwable failure = null;
    try {
      second.unlock();
    } catch (Throwable e) {
      failure = e;
      throw e;
    } finally {
      leaveFirst(failure);
    }
  }

  @Override
  public Condition newCondition() {
    throw new UnsupportedOperationException("a distributed lock has no conditions");
  }

  @Override
  public String toString() {
    return "[" + first + ", " + second + "]";
  }
}
