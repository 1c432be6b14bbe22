package io.pawl;

import org.jspecify.annotations.Nullable;

/**
 * How the store treats one claim: failures in a row, and silence. Written under the claim's mutex.
 */
final class Troubles {

  private final Engine engine;
  private int failures;
  private long failingSince;
  private volatile long silentSince;
  private volatile boolean silent;
  private volatile @Nullable StoreException last;

  Troubles(Engine engine) {
    this.engine = engine;
  }

  /** Asked for the first time. */
  void asked(long now) {
    silentSince = now;
    silent = true;
  }

  void answered() {
    failures = 0;
    last = null;
    silent = false;
  }

  /** Counts a failure, and says whether to try again. */
  boolean failed(StoreException cause) {
    long now = engine.time().nanos();
    if (failures++ == 0) {
      failingSince = now;
    }
    last = cause;
    return now - failingSince < engine.patienceNanos()
        && cause instanceof StoreUnavailableException;
  }

  /** The failure that the claim is struggling with. */
  @Nullable StoreException last() {
    return last;
  }

  /** For how long it has been asked and never answered; 0 if it was. */
  long silentNanos() {
    return silent ? Math.max(1, engine.time().nanos() - silentSince) : 0;
  }

  /** The pause before the next try: longer after each failure, up to a second. */
  long retryNanos() {
    return StoreCalls.pauseNanos(Math.max(1, failures), engine.random());
  }

  static long jittered(Engine engine, long nanos) {
    return (long) (nanos * (0.9 + 0.1 * engine.random().nextDouble()));
  }
}
