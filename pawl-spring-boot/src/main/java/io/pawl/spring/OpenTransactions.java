package io.pawl.spring;

import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Mono;

/** Refuses calls in transactions that would go on when the lock has been released. */
final class OpenTransactions {

  static final boolean arePossible =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronizationManager",
          OpenTransactions.class.getClassLoader());

  private OpenTransactions() {}

  static boolean isOpen() {
    return arePossible && HeldTransactions.isOpen();
  }

  /**
   * @throws IllegalStateException where this thread has a transaction
   */
  static void refuse(LockedMethod method) {
    if (!isOpen()) {
      return;
    }
    refuseAtEnd(method);
    throw refusal(method);
  }

  /**
   * @throws IllegalStateException where this thread's transaction is ending, or has ended
   */
  static void refuseAtEnd(LockedMethod method) {
    if (arePossible && HeldTransactions.isEnding()) {
      throw tooLate(method);
    }
  }

  /**
   * @throws IllegalStateException where this thread's transaction has ended
   */
  static void refuseAfterEnd(LockedMethod method) {
    if (arePossible && HeldTransactions.hasEnded()) {
      throw tooLate(method);
    }
  }

  private static IllegalStateException tooLate(LockedMethod method) {
    return new IllegalStateException(
        "a transaction is ending, or has just ended, where "
            + method.method()
            + " is called, and what is written now may still become a part of it; call the method"
            + " on another thread, as by @Async");
  }

  private static IllegalStateException refusal(LockedMethod method) {
    return new IllegalStateException(
        "a transaction is open where "
            + method.method()
            + " is called, so its lock would be released before the commit; call it outside of"
            + " the transaction, or, unless it is fenced, scheduled or asynchronous, hold the lock"
            + " until the transaction ends: @Locked(openTransaction = HOLD), or"
            + " pawl.locked.open-transaction=hold for all methods");
  }

  /** Fails where the subscriber has a transaction, of its thread or of its context. */
  static Mono<Void> refusedReactively(LockedMethod method) {
    return Mono.defer(
            () -> {
              refuse(method);
              return TransactionSynchronizationManager.forCurrentTransaction();
            })
        .filter(TransactionSynchronizationManager::isActualTransactionActive)
        .onErrorComplete(NoTransactionException.class)
        .flatMap(open -> Mono.error(refusal(method)));
  }
}
