package io.pawl.concurrent;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A stretch of the current thread's work that keeps interrupts for later. While it lasts the
 * thread's flag says nothing: whoever wants to interrupt the thread once, and not in vain, waits
 * until it is over ({@link Interruptible}), since two interrupts would leave it as one flag.
 */
public final class KeptInterrupts implements AutoCloseable {

  /** How many of these the thread is in. */
  private static final ThreadLocal<AtomicInteger> DEPTH =
      ThreadLocal.withInitial(AtomicInteger::new);

  private final AtomicInteger depth = DEPTH.get();
  private boolean interrupted;

  public KeptInterrupts() {
    depth.incrementAndGet();
  }

  static AtomicInteger depthHere() {
    return DEPTH.get();
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
    depth.decrementAndGet();
  }
}
