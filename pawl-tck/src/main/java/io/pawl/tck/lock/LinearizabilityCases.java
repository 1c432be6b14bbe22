package io.pawl.tck.lock;

import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import io.pawl.tck.rig.Bench;
import org.junit.jupiter.api.Test;

/** What the threads of two clients see is what a lock that does one thing after another allows. */
public abstract class LinearizabilityCases extends LinearizabilityRounds {

  protected LinearizabilityCases(Bench bench) {
    super(bench);
  }

  private void checkReadWrite(String lock, LockOptions options) throws Exception {
    check(
        lock,
        (client, mode) -> {
          var rw = client.readWriteLock(lock, options);
          var side = mode == Mode.SHARED ? rw.readLock() : rw.writeLock();
          return side.tryAcquire(Bench.PATIENCE);
        },
        random -> random.nextInt(3) == 0 ? Mode.EXCLUSIVE : Mode.SHARED);
  }

  @Test
  void readersAndWritersAreLinearizable() throws Exception {
    checkReadWrite(bench.lock("rw"), Bench.LONG);
  }

  @Test
  void readersAndWritersInStrictOrderAreLinearizable() throws Exception {
    checkReadWrite(bench.lock("strictRw"), Bench.LONG.strictOrder());
  }
}
