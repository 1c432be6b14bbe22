package io.pawl.engine;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A verb that may be repeated harmlessly, and is after a failure, for the client's patience. */
public final class Retry<T> {

  private static final long LOOK_EVERY_NANOS = 1_000_000_000;

  private final Engine engine;
  private final String lock;
  private final Supplier<CompletionStage<T>> verb;
  private final CompletableFuture<T> answer = new CompletableFuture<>();
  private final long askedAt;
  private volatile @Nullable StoreException lastFailure;

  private Retry(Engine engine, String lock, Supplier<CompletionStage<T>> verb) {
    this.engine = engine;
    this.lock = lock;
    this.verb = verb;
    this.askedAt = engine.time().nanos();
  }

  /**
   * The answer, or the last failure.
   *
   * @param mayBlock whether the calling thread would wait for the answer anyway
   */
  public static <T> CompletableFuture<T> start(
      Engine engine, String lock, Supplier<CompletionStage<T>> verb, boolean mayBlock) {
    return new Retry<>(engine, lock, verb).start(mayBlock);
  }

  private CompletableFuture<T> start(boolean mayBlock) {
    answer.whenComplete((value, error) -> engine.lifecycle().ended(this));
    engine.lifecycle().begin(this);
    if (mayBlock) {
      send(1);
    } else {
      engine.run(() -> send(1));
    }
    return answer;
  }

  private void send(int tries) {
    if (answer.isDone()) {
      return;
    }
    StoreCalls.call(verb)
        .whenComplete(
            (result, error) -> {
              if (error == null) {
                answer.complete(result);
              } else {
                failed(StoreCalls.asStoreException(what(), engine.store(), error), tries);
              }
            });
  }

  private void failed(StoreException cause, int tries) {
    engine.observerLater().storeFailed(lock, cause);
    lastFailure = cause;
    boolean patient =
        engine.time().nanos() - askedAt < engine.patienceNanos()
            && !engine.lifecycle().isAbandoned();
    if (patient && cause instanceof StoreUnavailableException) {
      Runnable again = () -> engine.run(() -> send(tries + 1));
      engine.time().after(StoreCalls.pauseNanos(tries, engine.random()), again);
    } else {
      answer.completeExceptionally(cause);
    }
  }

  /** The client has ended for good: nothing is repeated, and what is on its way is not awaited. */
  void giveUp() {
    answer.completeExceptionally(Lifecycle.closedException(lock));
  }

  /** As {@link #start}, for the client's patience and the time that an answer may take. */
  public static <T> CompletableFuture<T> bounded(
      Engine engine, String lock, Supplier<CompletionStage<T>> verb, boolean mayBlock) {
    Retry<T> retry = new Retry<>(engine, lock, verb);
    CompletableFuture<T> answer = retry.start(mayBlock);
    StoreCalls.endInTime(engine, retry.askedAt, answer, retry::leaveUnanswered);
    return answer;
  }

  /** As {@link #bounded}, and waits. Interrupts are kept for later. */
  public static <T> T ask(Engine engine, String lock, Supplier<CompletionStage<T>> verb) {
    return await(engine, lock, bounded(engine, lock, verb, true));
  }

  private void leaveUnanswered() {
    StoreException known = lastFailure;
    answer.completeExceptionally(known == null ? StoreCalls.silent(what(), engine.store()) : known);
  }

  private String what() {
    return "lock '" + lock + "'";
  }

  /** Waits for {@code answer}; interrupts are kept for later. */
  public static <T> T await(Engine engine, String lock, CompletableFuture<T> answer) {
    while (true) {
      try {
        return Uninterruptibly.get(answer, LOOK_EVERY_NANOS);
      } catch (TimeoutException e) {
        if (engine.lifecycle().isAbandoned()) {
          throw Lifecycle.closedException(lock);
        }
      } catch (ExecutionException e) {
        throw e.getCause() instanceof RuntimeException known
            ? known
            : StoreCalls.asStoreException("lock '" + lock + "'", engine.store(), e.getCause());
      }
    }
  }
}
