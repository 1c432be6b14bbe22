package io.pawl.bench.rival;

import io.pawl.Lease;
import org.jspecify.annotations.Nullable;

/** One thread's way through any lock of Pawl's that is held by a lease. */
final class LeaseTurn implements Rival.Turn {

  /** Waits for the lock. */
  interface Taking {
    Lease take() throws InterruptedException;
  }

  private final Taking taking;
  private @Nullable Lease lease;

  LeaseTurn(Taking taking) {
    this.taking = taking;
  }

  @Override
  public long acquire() throws InterruptedException {
    Lease taken = taking.take();
    lease = taken;
    return taken.token();
  }

  @Override
  public void release() {
    Lease taken = lease;
    if (taken != null) {
      taken.close();
    }
  }
}
