package io.pawl;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Work on the thread that makes this, which other threads may interrupt once; the interrupt does
 * not outlast the work. A thread that has been interrupted already is left as it is, so that the
 * flag that is taken back at the end is ours.
 */
final class Interruptible {

  private final Thread thread = Thread.currentThread();
  private final ReentrantLock mutex = new ReentrantLock();
  private boolean interrupted;
  private boolean ended;

  /** Does nothing once the work has ended. */
  void interrupt() {
    mutex.lock();
    try {
      if (!ended && !interrupted && !thread.isInterrupted()) {
        interrupted = true;
        thread.interrupt();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** The work has ended. Answers whether it was interrupted by this, and clears such a flag. */
  boolean end() {
    mutex.lock();
    try {
      ended = true;
      if (interrupted) {
        Thread.interrupted();
      }
      return interrupted;
    } finally {
      mutex.unlock();
    }
  }
}
