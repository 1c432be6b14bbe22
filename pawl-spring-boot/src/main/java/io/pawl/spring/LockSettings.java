package io.pawl.spring;

import io.pawl.options.LockOptions;
import java.time.Duration;

/**
 * What annotations do where they say nothing. Immutable.
 *
 * @param waitAtMost how long a call waits for its lock
 * @param lease how long others wait for a holder that died
 * @param openTransaction what becomes of a call while a transaction is open
 */
public record LockSettings(Duration waitAtMost, Duration lease, OpenTransaction openTransaction) {

  /**
   * @throws IllegalArgumentException for {@link OpenTransaction#AS_CONFIGURED}, a negative wait,
   *     and a lease that no lock can have
   */
  public LockSettings {
    if (waitAtMost.isNegative()) {
      throw new IllegalArgumentException("wait: " + waitAtMost + " is negative; 0 does not wait");
    }
    LockOptions.defaults().lease(lease); // which checks it
    if (openTransaction == OpenTransaction.AS_CONFIGURED) {
      throw new IllegalArgumentException(
          "what becomes of a call in an open transaction is either refuse or hold");
    }
  }

  private static final LockSettings DEFAULTS =
      new LockSettings(Duration.ofSeconds(10), Duration.ofSeconds(30), OpenTransaction.REFUSE);

  /** Returns the defaults: a wait of 10 s, a lease of 30 s, and no call in an open transaction. */
  public static LockSettings defaults() {
    return DEFAULTS;
  }
}
