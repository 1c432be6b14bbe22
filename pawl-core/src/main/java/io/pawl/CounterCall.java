package io.pawl;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.counter.OperationId;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.engine.Engine;
import io.pawl.engine.Lifecycle;
import io.pawl.engine.StoreCalls;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One question about counters on its way to the store, repeated until it is answered or the
 * client's patience is over, which counts from when this is made. Changes are repeated under their
 * id, which the store applies once.
 *
 * <p>The first answer to a change is awaited however long the store takes, which its own timeout
 * bounds. One that was asked for again is awaited until the patience is over, and for the store's
 * answer time: else a question that is repeated just in time would take that timeout twice. So is
 * the answer to a look: others may stand in line before it. The mutex is held for state only.
 *
 * @param <A> what the store answers
 */
final class CounterCall<A> implements Lifecycle.OpenCall {

  /** Sends the question. */
  interface Question<A> {

    /**
     * @param repeated whether an earlier copy may have been applied, or may still be under way
     */
    CompletionStage<A> ask(boolean repeated);
  }

  private final Engine engine;
  private final String counter;
  private final @Nullable OperationId id;
  private final Question<A> question;
  private final boolean keepsClosing;
  private final long askedAt;
  private final CompletableFuture<A> answer = new CompletableFuture<>();

  /** Completes when whoever asked will hear of the answer, though the client should close. */
  private CompletableFuture<Void> handedOn = answer.handle((value, error) -> null);

  private final ReentrantLock mutex = new ReentrantLock();
  private boolean asking;
  private boolean repeatsNoMore;
  private boolean over;
  private boolean doubtful;
  private int failures;
  private @Nullable StoreException lastFailure;

  /**
   * @param id under which it changes something; null where it only reads
   * @param keepsClosing whether a client that closes waits for the answer, which does not take
   *     minutes then
   */
  CounterCall(
      Engine engine,
      String counter,
      @Nullable OperationId id,
      Question<A> question,
      boolean keepsClosing) {
    this.engine = engine;
    this.counter = counter;
    this.id = id;
    this.question = question;
    this.keepsClosing = keepsClosing;
    this.askedAt = engine.time().nanos();
  }

  @Override
  public String what() {
    return "counter '" + counter + "'";
  }

  /** Asks on this thread, which waits for the answer; an interrupt is kept for later. */
  <T> T now(Function<A, T> reading) {
    engine.lifecycle().begin(this);
    ask();
    if (isLook()) {
      endInTime();
    }
    try {
      return reading.apply(Uninterruptibly.join(answer));
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /** Asks without blocking; the future is completed on a worker. */
  <T> CompletableFuture<T> later(Function<A, T> reading) {
    CompletableFuture<T> future = new CompletableFuture<>();
    handedOn =
        answer.handle(
            (value, error) -> {
              engine.workers().users().execute(() -> complete(future, reading, value, error));
              return null;
            });
    engine.lifecycle().begin(this);
    engine.run(this::ask);
    if (isLook()) {
      endInTime();
    }
    return future;
  }

  /** Whether it changes nothing, and is quick. */
  private boolean isLook() {
    return id == null && keepsClosing;
  }

  private void endInTime() {
    StoreCalls.endInTime(engine, askedAt, answer, this::leaveUnanswered);
  }

  private void leaveUnanswered() {
    mutex.lock();
    try {
      if (lastFailure == null) {
        lastFailure = StoreCalls.silent(what(), engine.store());
      }
    } finally {
      mutex.unlock();
    }
    giveUp();
  }

  private static <A, T> void complete(
      CompletableFuture<T> future,
      Function<A, T> reading,
      @Nullable A value,
      @Nullable Throwable error) {
    if (value == null) {
      future.completeExceptionally(
          error == null ? new IllegalStateException("the store answered null") : error);
      return;
    }
    try {
      future.complete(reading.apply(value));
    } catch (RuntimeException | Error e) {
      future.completeExceptionally(e);
    }
  }

  private void ask() {
    boolean repeated;
    mutex.lock();
    try {
      if (over || answer.isDone()) {
        return;
      }
      asking = true;
      repeated = failures > 0;
    } finally {
      mutex.unlock();
    }
    StoreCalls.call(() -> question.ask(repeated)).whenComplete(this::answered);
  }

  private void answered(@Nullable A value, @Nullable Throwable error) {
    if (value != null) {
      engine.lifecycle().ended(this);
      answer.complete(value);
      return;
    }
    StoreException cause = StoreCalls.asStoreException(what(), engine.store(), error);
    engine.observerLater().storeFailed(counter, cause);
    long pauseNanos;
    boolean isFirst;
    mutex.lock();
    try {
      asking = false;
      lastFailure = cause;
      isFirst = failures++ == 0;
      doubtful |= !changedNothing(cause, error);
      pauseNanos = pauseNanos(cause);
    } finally {
      mutex.unlock();
    }
    if (pauseNanos < 0) {
      giveUp();
    } else {
      if (isFirst && keepsClosing && !isLook()) {
        endInTime();
      }
      engine.time().after(pauseNanos, () -> engine.run(this::ask));
    }
  }

  /** Before the next try; negative where there is none. */
  private long pauseNanos(StoreException cause) {
    long spent = engine.time().nanos() - askedAt;
    boolean again =
        cause instanceof StoreUnavailableException
            && !repeatsNoMore
            && spent < engine.patienceNanos();
    return again ? StoreCalls.pauseNanos(failures, engine.random()) : -1;
  }

  private static boolean changedNothing(StoreException cause, @Nullable Throwable error) {
    if (cause instanceof StoreUnavailableException unavailable) {
      return unavailable.isUnsent();
    }
    return cause == error || (error instanceof CompletionException && cause == error.getCause());
  }

  @Override
  public CompletableFuture<Void> repeatNoMore() {
    boolean idle;
    mutex.lock();
    try {
      repeatsNoMore = true;
      idle = !asking && failures > 0;
    } finally {
      mutex.unlock();
    }
    if (idle) {
      giveUp();
    }
    return keepsClosing ? handedOn : CompletableFuture.completedFuture(null);
  }

  /**
   * What is known where the store has answered that it cannot tell; null where no earlier copy can
   * have been applied.
   */
  @Nullable OutcomeUnknownException unknownStill() {
    OperationId changing = id;
    mutex.lock();
    try {
      return changing == null || !doubtful
          ? null
          : new OutcomeUnknownException(counter, changing, engine.store().describe(), lastFailure);
    } finally {
      mutex.unlock();
    }
  }

  /** Says what is known, unless it was answered. */
  @Override
  public void giveUp() {
    engine.lifecycle().ended(this);
    RuntimeException known;
    mutex.lock();
    try {
      over = true; // what is said below stays true: nothing is sent from now on
      StoreException cause = lastFailure;
      if (id != null && (doubtful || asking)) {
        known = new OutcomeUnknownException(counter, id, engine.store().describe(), cause);
      } else if (cause != null) {
        known = cause;
      } else {
        known = new IllegalStateException(what() + ": the Pawl client is closed");
      }
    } finally {
      mutex.unlock();
    }
    answer.completeExceptionally(known);
  }
}
