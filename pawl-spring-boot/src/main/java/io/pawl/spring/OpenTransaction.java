package io.pawl.spring;

/**
 * What becomes of a call to a {@link Locked} method while a transaction is open already. A lock
 * that is released before the commit lets the next holder in before it can see what was written.
 */
public enum OpenTransaction {
  /** The call ends with an {@link IllegalStateException} before the lock is asked for. */
  REFUSE,
  /**
   * The lock is held until that transaction has ended, and the transaction is rolled back if the
   * lease was lost before. What the transaction read before the call may be older than the lock.
   */
  HOLD,
  /** What {@code pawl.locked.open-transaction} says, of which this is no value. */
  AS_CONFIGURED
}
