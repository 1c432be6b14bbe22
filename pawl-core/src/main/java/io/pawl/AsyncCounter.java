package io.pawl;

import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Reservation;
import io.pawl.counter.Update;
import io.pawl.spi.CounterView;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link Counter} whose methods do not block. They throw {@link IllegalArgumentException}, {@link
 * IllegalStateException} and {@link UnsupportedOperationException} at once; any other failure fails
 * the future, which completes on the client's {@linkplain io.pawl.options.PawlOptions#executor
 * executor}. Obtained from {@link Counter#async}; thread-safe.
 */
public final class AsyncCounter {

  private final Counter counter;

  AsyncCounter(Counter counter) {
    this.counter = counter;
  }

  /** As {@link Counter#get}. */
  public CompletableFuture<Long> get() {
    return counter.reading().later().thenApply(CounterView::value);
  }

  /** As {@link Counter#tryTake(long)}. */
  public CompletableFuture<Change> tryTake(long amount) {
    return counter.taking(amount, null).later();
  }

  /** As {@link Counter#tryTake(long, OperationId)}. */
  public CompletableFuture<Change> tryTake(long amount, OperationId id) {
    return counter.taking(amount, id).later();
  }

  /** As {@link Counter#add(long)}. */
  public CompletableFuture<Change> add(long amount) {
    return counter.adding(amount, null).later();
  }

  /** As {@link Counter#add(long, OperationId)}. */
  public CompletableFuture<Change> add(long amount, OperationId id) {
    return counter.adding(amount, id).later();
  }

  /** As {@link Counter#update(Update)}. */
  public CompletableFuture<Change> update(Update update) {
    return counter.changing(update.operation(), null).later();
  }

  /** As {@link Counter#update(Update, OperationId)}. */
  public CompletableFuture<Change> update(Update update, OperationId id) {
    return counter.changing(update.operation(), id).later();
  }

  /** As {@link Counter#reserve}. */
  public CompletableFuture<Reservation> reserve(long amount, Duration ttl, OperationId id) {
    return counter.reserving(amount, ttl, id).later();
  }

  /** As {@link Counter#confirm}. */
  public CompletableFuture<Boolean> confirm(OperationId id) {
    return counter.confirming(id).later();
  }

  /** As {@link Counter#cancel}. */
  public CompletableFuture<Boolean> cancel(OperationId id) {
    return counter.cancelling(id).later();
  }

  /** As {@link Counter#outcome}. */
  public CompletableFuture<Outcome> outcome(OperationId id) {
    return counter.asking(id).later();
  }

  @Override
  public String toString() {
    return counter.toString();
  }
}
