package io.pawl.concurrent;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;

/** Ends of threads, each waited for, but not for ever. Interrupts are kept. */
public final class Ends {

  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private Ends() {}

  private interface Wait {

    /** Whether what was waited for has come. */
    boolean atMost(long nanos) throws InterruptedException;
  }

  /**
   * Returns whether {@code executor}, which was shut down, has done with its threads, within a
   * second.
   */
  public static boolean of(ExecutorService executor) {
    return of(executor, PATIENCE);
  }

  /** As {@link #of(ExecutorService)}, within {@code patience}. */
  public static boolean of(ExecutorService executor, Duration patience) {
    return of(nanos -> executor.awaitTermination(nanos, TimeUnit.NANOSECONDS), patience);
  }

  /** Returns whether {@code thread} has ended, within a second. */
  public static boolean of(Thread thread) {
    return of(
        nanos -> {
          TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
          return !thread.isAlive();
        },
        PATIENCE);
  }

  private static boolean of(Wait wait, Duration patience) {
    long giveUpAt = System.nanoTime() + patience.toNanos();
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
