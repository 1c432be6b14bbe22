package io.pawl.spring;

import io.pawl.Pawl;
import org.jspecify.annotations.Nullable;

/** What a thread runs under, and what its transactions have to show. */
final class Held {

  private final Pawl client;
  private final Taken taken;
  private @Nullable FencedCall fencedCall;
  private boolean transactional;
  private volatile boolean over;

  Held(Pawl client, Taken taken) {
    this.client = client;
    this.taken = taken;
  }

  /** Whether it has the lock of this name: another client may have another store. */
  boolean has(Pawl other, String lock) {
    return client == other && taken.has(lock);
  }

  /** Whether a call of {@code method} that wants this lock needs nothing further. */
  boolean suffices(LockedMethod method, Pawl other, String lock) {
    return has(other, lock)
        && (method.shared() || !taken.isShared())
        && (!method.fenced() || fencedCall != null);
  }

  Taken taken() {
    return taken;
  }

  /** Its transactions are to be checked from now on; null: no longer. */
  void fence(@Nullable FencedCall call) {
    fencedCall = call;
  }

  @Nullable FencedCall fencedCall() {
    return fencedCall;
  }

  /** It ends with the transaction in which it began. */
  void lastsForTransaction() {
    transactional = true;
  }

  /** Whether what a transaction writes as it ends may be committed without it. */
  boolean isOverBeforeLastWrites() {
    return transactional || fencedCall != null;
  }

  void end() {
    over = true;
  }

  boolean isOver() {
    return over;
  }
}
