package io.pawl.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Lets every transaction manager compare the tokens of {@linkplain Locked#fenced() fenced} methods
 * as the last thing before a commit. A savepoint is left to the transaction around it: the row of
 * its token would stay locked, and a further transaction of the same thread would wait for it.
 * Thread-safe.
 */
public final class FencedTransactions implements BeanPostProcessor, TransactionExecutionListener {

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof ConfigurableTransactionManager manager
        && !manager.getTransactionExecutionListeners().contains(this)) { // as Boot's own have it
      manager.addListener(this);
    }
    return bean;
  }

  @Override
  public void beforeBegin(TransactionExecution transaction) {
    for (Held held : Leases.all()) {
      FencedCall call = held.fencedCall();
      if (call != null) {
        call.beforeBegin();
      }
    }
  }

  @Override
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    if (failure != null || transaction.isNested()) {
      return;
    }
    for (Held held : Leases.all()) {
      FencedCall call = held.fencedCall();
      if (call != null) {
        call.afterBegin(transaction);
      }
    }
  }

  /**
   * @throws IllegalStateException for a transaction that writes to another {@code DataSource}
   */
  @Override
  public void beforeCommit(TransactionExecution transaction) {
    if (transaction.isReadOnly() || transaction.isRollbackOnly() || transaction.isNested()) {
      return;
    }
    for (Held held : Leases.all()) {
      FencedCall call = held.fencedCall();
      if (call != null) {
        call.beforeCommit(transaction, held.taken());
      }
    }
  }

  @Override
  public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
    ended(transaction);
  }

  @Override
  public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
    ended(transaction);
  }

  private static void ended(TransactionExecution transaction) {
    for (Held held : Leases.all()) {
      FencedCall call = held.fencedCall();
      if (call != null) {
        call.ended(transaction);
      }
    }
  }
}
