package io.pawl.concurrent;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of the current thread's work that keeps interrupts for later. While it lasts the
 * thread's flag says nothing. Whoever wants to interrupt the thread once, and not in vain, does so
 * when it is over ({@link Interruptible}), since two interrupts would leave it as one flag.
 */
public final class KeptInterrupts implements AutoCloseable {

  /** Weak, so that a thread that lives on keeps nothing of ours, neither classes nor loader. */
  private static final ThreadLocal<@Nullable WeakReference<OfThread>> HERE = new ThreadLocal<>();

  /** The stretches that one thread is in; whoever looks at them keeps this. */
  static final class OfThread {

    private static final int SPINS = 1_000;
    private static final long PAUSE_NANOS = 1_000_000;

    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Runnable> puttingOff = new ArrayList<>(0);
    private int depth;

    /** Work that was interrupted and has not ended: only the last's interrupt can be set still. */
    private final List<Interruptible> interrupted = new ArrayList<>(0);

    /** A lock that parks takes the thread's flag away for a moment, and others would see none. */
    private void lock() {
      for (int tries = 0; !mutex.tryLock(); tries++) {
        if (tries < SPINS) {
          Thread.yield();
        } else { // somebody interrupts the thread, which may take long
          LockSupport.parkNanos(PAUSE_NANOS);
        }
      }
    }

    int depth() {
      lock();
      try {
        return depth;
      } finally {
        mutex.unlock();
      }
    }

    /**
     * Runs {@code now}, which does not block, while the thread is in no stretch within {@code
     * outerDepth}, nor can enter one; or else {@code later} when it leaves that.
     */
    void between(int outerDepth, Runnable now, Runnable later) {
      lock();
      try {
        if (depth <= outerDepth) {
          now.run();
        } else {
          puttingOff.add(later);
        }
      } finally {
        mutex.unlock();
      }
    }

    /** Notes that {@code work} is interrupted now; called by {@link #between}. */
    void interrupts(Interruptible work) {
      interrupted.add(work);
    }

    /**
     * Whether {@code work}, of this thread, was interrupted, and the thread has heard of no
     * interrupt since.
     */
    boolean heardLast(Interruptible work) {
      lock();
      try {
        return isLast(work)
            || (interrupted.contains(work) && Thread.currentThread().isInterrupted());
      } finally {
        mutex.unlock();
      }
    }

    private boolean isLast(Interruptible work) {
      return !interrupted.isEmpty() && interrupted.get(interrupted.size() - 1) == work;
    }

    /** Runs {@code end}, and clears the thread's flag where {@code work} was interrupted last. */
    void end(Interruptible work, Runnable end) {
      lock();
      try {
        end.run();
        if (isLast(work)) {
          Thread.interrupted();
        }
        interrupted.remove(work);
      } finally {
        mutex.unlock();
      }
    }

    private void enter() {
      lock();
      try {
        depth++;
      } finally {
        mutex.unlock();
      }
    }

    private void leave() {
      List<Runnable> due = List.of();
      lock();
      try {
        depth--;
        if (!puttingOff.isEmpty()) {
          due = List.copyOf(puttingOff);
          puttingOff.clear();
        }
      } finally {
        mutex.unlock();
      }
      due.forEach(Runnable::run);
    }
  }

  private final OfThread thread = here();
  private boolean interrupted;

  public KeptInterrupts() {
    thread.enter();
  }

  static OfThread here() {
    WeakReference<OfThread> known = HERE.get();
    OfThread found = known == null ? null : known.get();
    if (found == null) {
      found = new OfThread();
      HERE.set(new WeakReference<>(found));
    }
    return found;
  }

  /** An {@link InterruptedException} was caught. */
  public void caught() {
    interrupted = true;
  }

  /** Clears the thread's flag, so that the next wait is not cut short. */
  public void clear() {
    interrupted |= Thread.interrupted();
  }

  /** Whether there was an interrupt to keep. */
  public boolean any() {
    return interrupted;
  }

  /** Sets the flag again if there was an interrupt. */
  @Override
  public void close() {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    thread.leave();
  }
}
