package io.pawl.spring;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.TransactionExecution;

/** The transactions of a fenced method that runs. For the thread that runs it. */
final class FencedCall {

  private final Fencing fencing;
  private final Set<TransactionExecution> open = Collections.newSetFromMap(new IdentityHashMap<>());
  private @Nullable Object before;
  private boolean hasSeenTransaction;

  FencedCall(Fencing fencing) {
    this.fencing = fencing;
  }

  void beforeBegin() {
    before = fencing.resource();
  }

  /** What is bound to the thread by now tells whether it is of the fence's {@code DataSource}. */
  void afterBegin(TransactionExecution transaction) {
    Object now = fencing.resource();
    if (now != null && now != before) {
      open.add(transaction);
      hasSeenTransaction = true;
    }
  }

  void beforeCommit(TransactionExecution transaction, Taken taken) {
    if (!open.contains(transaction)) {
      throw new IllegalStateException(
          "transaction '"
              + transaction.getTransactionName()
              + "' in a method fenced by "
              + taken.tokens().keySet()
              + " is of another DataSource than pawl_fence, so its token cannot be compared; let it"
              + " begin outside of the method, or define a bean of type Fencing for its DataSource");
    }
    fencing.checkBeforeCommit(taken.tokens());
  }

  void ended(TransactionExecution transaction) {
    open.remove(transaction);
  }

  boolean hasSeenTransaction() {
    return hasSeenTransaction;
  }
}
