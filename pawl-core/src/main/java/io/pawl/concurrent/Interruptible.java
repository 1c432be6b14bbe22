package io.pawl.concurrent;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Work on the thread that makes this, which other threads may interrupt once; the interrupt does
 * not outlast the work. A thread that has been interrupted already is left as it is until it has
 * taken notice of that, so that the flag that is taken back at the end is ours. So is one that is
 * in a wait of ours that keeps interrupts for later. An interrupt of the work around this one is
 * left to that.
 */
public final class Interruptible {

  /** After which a thread that was interrupted already is looked at again: 20 ms. */
  private static final long AGAIN_NANOS = 20_000_000;

  private final Thread thread = Thread.currentThread();
  private final KeptInterrupts.OfThread kept = KeptInterrupts.here();

  /** Of waits that this work is inside of, and that outlast it. */
  private final int outerDepth = kept.depth();

  private final ReentrantLock mutex = new ReentrantLock();
  private boolean ended;
  private boolean wanted;

  /** Does nothing once the work has ended. */
  public void interrupt() {
    mutex.lock();
    try {
      if (wanted || ended) {
        return;
      }
      wanted = true;
    } finally {
      mutex.unlock();
    }
    interruptSoon();
  }

  private void interruptSoon() {
    kept.between(outerDepth, this::interruptNow, this::interruptSoon);
  }

  private void interruptNow() {
    boolean again = false;
    mutex.lock();
    try {
      if (!ended) {
        again = thread.isInterrupted();
        if (!again) {
          kept.interrupts(this);
          thread.interrupt();
        }
      }
    } finally {
      mutex.unlock();
    }
    if (again) {
      SystemTime.ofAllClients().after(AGAIN_NANOS, this::interruptSoon);
    }
  }

  /**
   * Whether an {@link InterruptedException} that leaves the work now is of its own interrupt, as
   * far as Pawl knows; to be asked on its thread.
   */
  public boolean isHeard() {
    return kept.heardLast(this);
  }

  /**
   * The work has ended; clears the flag that this has set. Answers whether the work was to be
   * interrupted by this, though the thread may have been interrupted already.
   */
  public boolean end() {
    kept.end(this, this::noteEnd);
    return wanted;
  }

  private void noteEnd() {
    mutex.lock();
    try {
      ended = true;
    } finally {
      mutex.unlock();
    }
  }
}
