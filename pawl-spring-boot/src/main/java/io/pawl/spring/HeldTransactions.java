package io.pawl.spring;

import io.pawl.Lease;
import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Holds a lock until the transaction of this thread has ended. */
final class HeldTransactions implements TransactionSynchronization {

  private final Held held;

  private HeldTransactions(Held held) {
    this.held = held;
  }

  static boolean isOpen() {
    return TransactionSynchronizationManager.isActualTransactionActive();
  }

  static void holdUntilEnd(Lease lease) {
    Held held = Leases.enter(lease);
    try {
      TransactionSynchronizationManager.registerSynchronization(new HeldTransactions(held));
    } catch (RuntimeException | Error e) {
      Leases.leave(held);
      lease.closeAsync();
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
    held.lease().ensureValid();
  }

  @Override
  public void afterCompletion(int status) {
    Leases.leave(held);
    held.lease().close();
  }
}
