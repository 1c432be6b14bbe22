package io.pawl.concurrent;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** Ends of threads, each waited for, but for no longer than a second. Interrupts are kept. */
public final class Ends {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private Ends() {}

  private interface Wait {

    /** Whether what was waited for has come. */
    boolean atMost(long nanos) throws InterruptedException;
  }

  /** Returns whether {@code executor}, which was shut down, has done with its threads. */
  public static boolean of(ExecutorService executor) {
    return of(nanos -> executor.awaitTermination(nanos, TimeUnit.NANOSECONDS));
  }

  /** Returns whether {@code thread} has ended. */
  public static boolean of(Thread thread) {
    return of(
        nanos -> {
          TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
          return !thread.isAlive();
        });
  }

  private static boolean of(Wait wait) {
    long giveUpAt = System.nanoTime() + PATIENCE_NANOS;
    try (KeptInterrupts kept = new KeptInterrupts()) {
      while (true) {
        try {
          return wait.atMost(giveUpAt - System.nanoTime());
        } catch (InterruptedException e) {
          kept.caught();
        }
      }
    }
  }
}
