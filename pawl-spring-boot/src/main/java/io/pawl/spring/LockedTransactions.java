package io.pawl.spring;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.core.Ordered;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Hears from every transaction manager what its own synchronizations do not tell. As the last thing
 * before a commit it compares the tokens of {@linkplain Locked#fenced() fenced} methods, and sees
 * to it that locks held until the end are held still, of whatever was called before the commit too.
 * And it knows from when on a transaction is ending: what is written then by a listener after the
 * commit is committed with the last of all its steps, when locks that it held have been released.
 *
 * <p>A savepoint is left to the transaction around it: the row of its token would stay locked, and
 * a further transaction of the same thread would wait for it. Thread-safe.
 */
public final class LockedTransactions implements BeanPostProcessor, TransactionExecutionListener {

  /**
   * Of this thread: transactions that are ending, and those that began meanwhile, the latest first.
   */
  private static final ThreadLocal<@Nullable Deque<Phase>> phases = new ThreadLocal<>();

  private record Phase(TransactionExecution transaction, State state) {}

  private enum State {
    BEGUN,
    ENDING,
    ENDED
  }

  /** The first to be told after the commit. */
  private record AfterCommit(TransactionExecution transaction)
      implements TransactionSynchronization {

    @Override
    public int getOrder() {
      return Ordered.HIGHEST_PRECEDENCE;
    }

    @Override
    public void afterCommit() {
      enter(new Phase(transaction, State.ENDED));
    }
  }

  @Override
  public Object postProcessAfterInitialization(Object bean, String name) {
    if (bean instanceof ConfigurableTransactionManager manager
        && !manager.getTransactionExecutionListeners().contains(this)) { // as Boot's own have it
      manager.addListener(this);
    }
    return bean;
  }

  /** Whether this thread's transaction commits or is rolled back just now, or has been. */
  static boolean isEnding() {
    Deque<Phase> known = known();
    return !known.isEmpty() && known.getFirst().state() != State.BEGUN;
  }

  /** Whether it has been committed, and listeners are being told. */
  static boolean hasEnded() {
    Deque<Phase> known = known();
    return !known.isEmpty() && known.getFirst().state() == State.ENDED;
  }

  private static Deque<Phase> known() {
    Deque<Phase> known = phases.get();
    if (known == null) {
      return new ArrayDeque<>(0);
    }
    known.removeIf(phase -> phase.transaction().isCompleted());
    if (known.isEmpty()) {
      phases.remove();
    }
    return known;
  }

  private static void enter(Phase phase) {
    Deque<Phase> known = known();
    known.addFirst(phase);
    phases.set(known);
  }

  /** One of a reactive manager belongs to no thread. */
  private static void ends(TransactionExecution transaction) {
    if (transaction instanceof TransactionStatus && !transaction.isNested()) {
      enter(new Phase(transaction, State.ENDING));
    }
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
    if (transaction instanceof TransactionStatus && !known().isEmpty()) {
      enter(new Phase(transaction, State.BEGUN));
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
    ends(transaction);
    if (transaction.isRollbackOnly() || transaction.isNested()) {
      return;
    }
    if (transaction instanceof TransactionStatus) {
      HeldTransactions.ensureValid();
      if (TransactionSynchronizationManager.isSynchronizationActive() && !Leases.all().isEmpty()) {
        TransactionSynchronizationManager.registerSynchronization(new AfterCommit(transaction));
      }
    }
    if (transaction.isReadOnly()) {
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
  public void beforeRollback(TransactionExecution transaction) {
    ends(transaction);
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
    Deque<Phase> known = known();
    known.removeIf(phase -> phase.transaction() == transaction);
    if (known.isEmpty()) {
      phases.remove();
    }
    for (Held held : Leases.all()) {
      FencedCall call = held.fencedCall();
      if (call != null) {
        call.ended(transaction);
      }
    }
  }
}
