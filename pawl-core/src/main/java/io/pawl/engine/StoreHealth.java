package io.pawl.engine;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * How the store treats one claim: failures in a row, and silence. Written under the claim's mutex.
 */
final class StoreHealth {

  private final Engine engine;
  private int failures;
  private long failingSince;
  private boolean continues;
  private final long silentSince;
  private volatile boolean silent = true;
  private volatile @Nullable StoreException last;

  /**
   * Of a claim that is going to be asked, for whoever wants it {@code since} then: its question may
   * have to wait for a thread, or behind a release.
   */
  StoreHealth(Engine engine, long since) {
    this.engine = engine;
    this.silentSince = since;
  }

  /** Those for whom it asks have been patient since {@code since} with another, which failed. */
  void continueFrom(long since, RuntimeException cause) {
    failingSince = since;
    continues = true;
    last = cause instanceof StoreException failure ? failure : null;
  }

  /** Whether that is the first answer. */
  boolean answered() {
    boolean first = silent;
    continues = false;
    failures = 0;
    last = null;
    silent = false;
    return first;
  }

  /**
   * Counts a failure, and says whether to try again. Patience counts from the first question in a
   * row that failed, not from its failure: a store may take long to fail.
   */
  boolean failed(StoreException cause, long askedAt) {
    long now = engine.time().nanos();
    if (failures++ == 0 && !continues) {
      failingSince = askedAt;
    }
    last = cause;
    return now - failingSince < engine.patienceNanos()
        && cause instanceof StoreUnavailableException;
  }

  /** The failure that the claim is struggling with. */
  @Nullable StoreException last() {
    return last;
  }

  /** For how long it has been asked and never answered, at least 1; 0 if it was. */
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
