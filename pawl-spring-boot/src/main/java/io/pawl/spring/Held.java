package io.pawl.spring;

import io.pawl.Lease;
import org.jspecify.annotations.Nullable;

/** A lease under which a thread runs, and what its transactions have to show. */
final class Held {

  private final Lease lease;
  private @Nullable Fencing fencing;
  private boolean transactionSeen;
  private volatile boolean over;

  Held(Lease lease) {
    this.lease = lease;
  }

  Lease lease() {
    return lease;
  }

  /** Its transactions are to be checked from now on. */
  void fence(@Nullable Fencing by) {
    fencing = by;
    transactionSeen = false;
  }

  @Nullable Fencing fencing() {
    return fencing;
  }

  void seeTransaction() {
    transactionSeen = true;
  }

  boolean hasSeenTransaction() {
    return transactionSeen;
  }

  void end() {
    over = true;
  }

  boolean isOver() {
    return over;
  }
}
