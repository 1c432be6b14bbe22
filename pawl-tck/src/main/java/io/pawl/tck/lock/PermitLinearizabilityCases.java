package io.pawl.tck.lock;

import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import io.pawl.tck.rig.Bench;
import org.junit.jupiter.api.Test;

/** As {@link LinearizabilityCases}, for semaphores. */
public abstract class PermitLinearizabilityCases extends LinearizabilityRounds {

  protected PermitLinearizabilityCases(Bench bench) {
    super(bench);
  }

  private void checkSemaphore(String lock, LockOptions options) throws Exception {
    check(
        lock,
        (client, mode) -> {
          Mode.Permits permits = (Mode.Permits) mode;
          var semaphore = client.semaphore(lock, permits.capacity(), options);
          return permits.wanted() == 1
              ? semaphore.tryAcquire(1)
              : semaphore.tryAcquire(permits.wanted(), Bench.PATIENCE);
        },
        random -> new Mode.Permits(1 + random.nextInt(3), 4));
  }

  @Test
  void permitsAreLinearizable() throws Exception {
    checkSemaphore(bench.lock("permits"), Bench.LONG);
  }

  @Test
  void permitsInStrictOrderAreLinearizable() throws Exception {
    checkSemaphore(bench.lock("strictPermits"), Bench.LONG.strictOrder());
  }
}
