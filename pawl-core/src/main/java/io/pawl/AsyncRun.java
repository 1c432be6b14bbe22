package io.pawl;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One body that ends with its stage: asks for the lock, runs the body, gives the lock back. */
final class AsyncRun<T> {

  private final Engine engine;
  private final Function<Lease, CompletionStage<T>> body;
  private final CompletableFuture<Optional<T>> result = new CompletableFuture<>();

  /**
   * Until it is answered: whoever keeps the result must not keep the lease from being forgotten.
   */
  private volatile @Nullable CompletableFuture<?> asking;

  AsyncRun(Engine engine, Function<Lease, CompletionStage<T>> body) {
    this.engine = engine;
    this.body = body;
  }

  CompletableFuture<Optional<T>> under(CompletableFuture<Optional<Lease>> asked) {
    asking = asked;
    asked.whenCompleteAsync( // a grant may be there already: the caller's thread runs no body
        (lease, error) -> {
          asking = null;
          if (error != null) {
            result.completeExceptionally(error);
          } else if (lease.isEmpty()) {
            result.complete(Optional.empty());
          } else {
            run(lease.get());
          }
        },
        engine.workers().users());
    result.whenComplete((value, error) -> cancelAsking());
    return result;
  }

  private void cancelAsking() {
    CompletableFuture<?> underWay = asking;
    if (underWay != null) {
      underWay.cancel(false);
    }
  }

  private void run(Lease lease) {
    if (result.isDone()) {
      lease.loan().drop(); // cancelled as the grant came
      return;
    }
    if (!lease.loan().isTrusted()) { // the executor was busy for longer than that
      giveBack(lease, null, null);
      return;
    }
    try {
      Futures.whenEnded(
          Objects.requireNonNull(body.apply(lease), "the body's stage is null"),
          (value, failure) -> giveBack(lease, value, failure));
    } catch (Throwable e) { // checked exceptions too: other languages throw them undeclared
      giveBack(lease, null, e);
    }
  }

  /** The result follows when the store has confirmed it, after the client's patience at most. */
  private void giveBack(Lease lease, @Nullable T value, @Nullable Throwable failure) {
    try {
      finishAfter(lease.closeAsync(engine.observerLater()), lease, value, failure);
    } catch (Throwable e) { // of the stack, of memory: somebody waits for the result
      finish(value, failure == null ? e : failure, null);
    }
  }

  private void finishAfter(
      CompletableFuture<Void> confirmed,
      Lease lease,
      @Nullable T value,
      @Nullable Throwable failure) {
    // asked of the loan: a stage may complete in a callback of the loss, where a close is silent
    LeaseLostException lost = lease.loan().isReleased() ? null : lease.loan().lostException();
    CompletableFuture<Void> over = new CompletableFuture<>();
    Time.Pending patience = engine.time().after(engine.patienceNanos(), () -> over.complete(null));
    engine
        .forUser(confirmed.applyToEither(over, nothing -> nothing))
        .whenComplete(
            (nothing, error) -> {
              patience.cancel();
              finish(value, failure, lost);
            });
  }

  private void finish(
      @Nullable T value, @Nullable Throwable failure, @Nullable LeaseLostException lost) {
    Throwable thrown = lost;
    if (failure != null) {
      thrown = cause(failure);
      if (lost != null) {
        thrown.addSuppressed(lost);
      }
    }
    if (thrown != null) {
      result.completeExceptionally(thrown);
    } else if (value == null) {
      result.completeExceptionally(new NullPointerException("the body's result is null"));
    } else {
      result.complete(Optional.of(value));
    }
  }

  private static Throwable cause(Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : null;
    return cause != null ? cause : error;
  }
}
