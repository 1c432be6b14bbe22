package io.pawl.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A stretch of the current thread's work that keeps interrupts for later. While it lasts the
 * thread's flag says nothing. Whoever wants to interrupt the thread once, and not in vain, does so
 * when it is over ({@link Interruptible}), since two interrupts would leave it as one flag.
 */
public final class KeptInterrupts implements AutoCloseable {

  private static final ThreadLocal<OfThread> HERE = ThreadLocal.withInitial(OfThread::new);

  /** The stretches that one thread is in. */
  static final class OfThread {

    private final ReentrantLock mutex = new ReentrantLock();
    private final List<Runnable> puttingOff = new ArrayList<>(0);
    private int depth;

    int depth() {
      mutex.lock();
      try {
        return depth;
      } finally {
        mutex.unlock();
      }
    }

    /** Puts {@code interrupt} off until the thread leaves a stretch; false if it is in none. */
    boolean putOff(int outerDepth, Runnable interrupt) {
      mutex.lock();
      try {
        if (depth <= outerDepth) {
          return false;
        }
        puttingOff.add(interrupt);
        return true;
      } finally {
        mutex.unlock();
      }
    }

    private void enter() {
      mutex.lock();
      try {
        depth++;
      } finally {
        mutex.unlock();
      }
    }

    private void leave() {
      List<Runnable> due = List.of();
      mutex.lock();
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

  private final OfThread thread = HERE.get();
  private boolean interrupted;

  public KeptInterrupts() {
    thread.enter();
  }

  static OfThread here() {
    return HERE.get();
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
