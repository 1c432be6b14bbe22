package io.pawl.examples;

import io.pawl.Pawl;
import io.pawl.ScheduledJob;
import io.pawl.memory.MemoryStore;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Two machines start the same job at the same hour by clocks of their own; one runs it, the other
 * skips, even if the first was done before the second began.
 */
public final class NightlyJob {

  private NightlyJob() {}

  /** Takes no arguments. */
  public static void main(String[] arguments) {
    AtomicInteger runs = new AtomicInteger();
    try (MemoryStore store = new MemoryStore();
        Pawl one = Pawl.over(store);
        Pawl two = Pawl.over(store)) {
      ScheduledJob onOne = nightly(one);
      ScheduledJob onTwo = nightly(two);

      boolean first = onOne.run(lease -> runs.incrementAndGet());
      boolean second = onTwo.run(lease -> runs.incrementAndGet());

      System.out.println("machine 1 ran it: " + first + ", machine 2: " + second);
    }
    if (runs.get() != 1) {
      throw new IllegalStateException("the job ran " + runs + " times");
    }
  }

  /** For a scheduler: {@code executor.scheduleAtFixedRate(nightly(pawl).task(body), …)}. */
  private static ScheduledJob nightly(Pawl pawl) {
    return pawl.job("nightly").minHold(Duration.ofMinutes(1)).maxRun(Duration.ofHours(1));
  }
}
