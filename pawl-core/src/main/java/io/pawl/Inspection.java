package io.pawl;

import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.engine.Lifecycle;
import io.pawl.engine.Retry;
import io.pawl.error.LockKindException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/**
 * A client's looks into its store; one round trip each, repeated for its patience. A store may fail
 * late, and may have others in line before us: nobody waits for longer than that and the time that
 * an answer may take.
 */
record Inspection(Engine engine) {

  LockSnapshot of(String lock) {
    return LockSnapshot.of(lock, view(lock));
  }

  /** How many permits of a semaphore nobody holds. */
  int availablePermits(String semaphore, Kind kind) {
    LockView view = view(semaphore).orElse(null);
    if (view == null) {
      return kind.capacity();
    }
    Kind known = view.kind();
    if (known != null && !known.equals(kind)) {
      throw new LockKindException(semaphore, known.capacity(), kind.capacity());
    }
    LockSnapshot now = LockSnapshot.of(semaphore, Optional.of(view));
    int held = now.holders().stream().mapToInt(LockSnapshot.Claimant::permits).sum();
    return Math.max(0, kind.capacity() - held);
  }

  private Optional<LockView> view(String lock) {
    return ask(lock, store -> store.show(lock));
  }

  boolean evict(String lock, long token) {
    return ask(lock, store -> store.evict(lock, token));
  }

  private <T> T ask(String lock, Function<Inspectable, CompletionStage<T>> question) {
    if (engine.lifecycle().isClosed()) {
      throw Lifecycle.closedException(lock);
    }
    if (!(engine.store() instanceof Inspectable store)) {
      throw new UnsupportedOperationException(
          engine.store().describe() + " cannot say who holds '" + lock + "'");
    }
    long over = engine.time().nanos() + engine.patienceNanos() + engine.graceNanos();
    CompletableFuture<T> answer = Retry.start(engine, lock, () -> question.apply(store), true);
    Time.Pending bound =
        engine
            .time()
            .after(
                Math.max(0, over - engine.time().nanos()),
                () -> answer.completeExceptionally(silent(lock)));
    try {
      return Retry.await(engine, lock, answer);
    } finally {
      bound.cancel();
    }
  }

  private StoreUnavailableException silent(String lock) {
    return new StoreUnavailableException(
        "lock '" + lock + "': " + engine.store().describe() + " has not answered");
  }
}
