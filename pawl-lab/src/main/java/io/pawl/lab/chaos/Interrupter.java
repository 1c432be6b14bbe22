package io.pawl.lab.chaos;

import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Interrupts a thread now and then, but only while it says that it waits. Thread-safe. */
final class Interrupter implements Runnable {

  private static final int LONGEST_MILLIS = 60;

  private final Random random;
  private @Nullable Thread target;

  Interrupter(Random random) {
    this.random = random;
  }

  synchronized void aim(Thread waiter) {
    target = waiter;
  }

  synchronized void leave() {
    target = null;
  }

  private synchronized void shoot() {
    if (target != null) {
      target.interrupt();
    }
  }

  /** Until its own thread is interrupted. */
  @Override
  public void run() {
    try {
      while (true) {
        Thread.sleep(1 + random.nextInt(LONGEST_MILLIS));
        shoot();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
