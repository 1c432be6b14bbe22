package io.pawl.spring;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Lets every transaction manager compare the tokens of {@linkplain Locked#fenced() fenced} methods
 * as the last thing before a commit. Thread-safe.
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
  public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
    if (failure == null) {
      for (Held held : Leases.all()) {
        Fencing fencing = held.fencing();
        if (fencing != null && fencing.isInTransaction()) {
          held.seeTransaction();
        }
      }
    }
  }

  @Override
  public void beforeCommit(TransactionExecution transaction) {
    if (transaction.isReadOnly() || transaction.isRollbackOnly()) {
      return;
    }
    for (Held held : Leases.all()) {
      Fencing fencing = held.fencing();
      if (fencing != null && fencing.isInTransaction()) {
        fencing.checkBeforeCommit(held.lease());
      }
    }
  }
}
