package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.engine.Lifecycle;
import io.pawl.engine.Retry;
import io.pawl.error.LockKindException;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A client's looks into its store; one round trip each, repeated for its patience. */
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
    return Retry.ask(engine, lock, () -> question.apply(store));
  }
}
