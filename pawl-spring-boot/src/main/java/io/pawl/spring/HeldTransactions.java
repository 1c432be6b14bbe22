package io.pawl.spring;

import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Holds what was taken until the transaction of this thread has ended. */
final class HeldTransactions implements TransactionSynchronization {

  private final Held held;

  private HeldTransactions(Held held) {
    this.held = held;
  }

  static boolean isOpen() {
    return TransactionSynchronizationManager.isActualTransactionActive();
  }

  /** Whether it commits or is rolled back just now, or its last listeners are being called. */
  static boolean isEnding() {
    return isOpen()
        && (!TransactionSynchronizationManager.isSynchronizationActive()
            || LockedTransactions.isEnding());
  }

  /** Whether only listeners are left, and locks that were held until its end may be released. */
  static boolean hasEnded() {
    return isOpen()
        && (!TransactionSynchronizationManager.isSynchronizationActive()
            || LockedTransactions.hasEnded());
  }

  /**
   * @throws LeaseLostException where a lock was lost that is held until this thread's transaction
   *     ends
   */
  static void ensureValid() {
    if (TransactionSynchronizationManager.isSynchronizationActive()) {
      for (TransactionSynchronization each :
          TransactionSynchronizationManager.getSynchronizations()) {
        if (each instanceof HeldTransactions until) {
          until.held.taken().ensureValid();
        }
      }
    }
  }

  static Held holdUntilEnd(Pawl client, Taken taken) {
    Held held = Leases.enter(client, taken);
    held.lastsForTransaction();
    try {
      TransactionSynchronizationManager.registerSynchronization(new HeldTransactions(held));
      return held;
    } catch (RuntimeException | Error e) {
      Leases.leave(held);
      taken.closeAsync();
      throw e;
    }
  }

  /** The last to hear of the end. */
  @Override
  public int getOrder() {
    return Ordered.LOWEST_PRECEDENCE;
  }

  @Override
  public void beforeCommit(boolean readOnly) {
    held.taken().ensureValid();
  }

  @Override
  public void afterCompletion(int status) {
    Leases.leave(held);
    held.taken().close();
  }
}
