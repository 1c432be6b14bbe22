package io.pawl.spring;

import io.pawl.Pawl;
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

  /** Whether it has ended already, and its last listeners are being called. */
  static boolean isEnding() {
    return isOpen() && !TransactionSynchronizationManager.isSynchronizationActive();
  }

  static void holdUntilEnd(Pawl client, Taken taken) {
    Held held = Leases.enter(client, taken);
    try {
      TransactionSynchronizationManager.registerSynchronization(new HeldTransactions(held));
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
