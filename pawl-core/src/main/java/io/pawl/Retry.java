package io.pawl;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Waits for a verb that may be repeated harmlessly, and repeats it after a failure, for the
 * client's patience. Interrupts are kept for later.
 */
final class Retry {

  private final Engine engine;
  private final String lock;

  Retry(Engine engine, String lock) {
    this.engine = engine;
    this.lock = lock;
  }

  /**
   * The answer.
   *
   * @throws StoreException the last failure
   */
  <T> T await(Supplier<CompletionStage<T>> verb) {
    long giveUpAt = engine.time().nanos() + engine.patienceNanos();
    for (int tries = 1; ; tries++) {
      try {
        return answer(StoreCalls.call(verb));
      } catch (StoreUnavailableException e) {
        engine.observer().storeFailed(lock, e);
        if (engine.time().nanos() - giveUpAt >= 0) {
          throw e;
        }
      }
      LockSupport.parkNanos(this, StoreCalls.pauseNanos(tries, engine.random()));
    }
  }

  private <T> T answer(CompletionStage<T> stage) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return stage.toCompletableFuture().get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw StoreCalls.asStoreException("lock '" + lock + "'", engine.store(), e.getCause());
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
