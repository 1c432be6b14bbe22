package io.pawl;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** Requests for one lock in one mode: what locks and semaphores have in common. */
record Requests(Engine engine, Engine.LineKey key) {

  Lease acquire() throws InterruptedException {
    return tryAcquire(Durations.LONGEST)
        .orElseThrow(() -> new IllegalStateException("a wait of 100 years has ended"));
  }

  Lease acquireUninterruptibly() {
    Waiter waiter = Waiter.blocking(engine, key.name(), true);
    engine.enter(key, waiter, Runnable::run);
    return waiter.awaitUninterruptibly().orElseThrow();
  }

  CompletableFuture<Lease> acquireAsync() {
    return Futures.present(tryAcquireAsync(Durations.LONGEST), Lease::closeAsync);
  }

  <T> CompletableFuture<Optional<T>> callAsync(
      Duration wait, Function<Lease, CompletionStage<T>> body) {
    return new AsyncRun<>(engine, body).under(this, wait);
  }

  Optional<Lease> tryAcquire() {
    Waiter waiter = Waiter.blocking(engine, key.name(), false);
    engine.enter(key, waiter, Runnable::run);
    return waiter.awaitUninterruptibly();
  }

  Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
    long waitNanos = Durations.waitNanos(wait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (waitNanos == 0) {
      return tryAcquire();
    }
    Waiter waiter = Waiter.blocking(engine, key.name(), true);
    long deadline = engine.time().nanos() + waitNanos;
    engine.enter(key, waiter, Runnable::run);
    return waiter.await(deadline);
  }

  String describe(String type) {
    return type + "[" + key.name() + ", " + key.mode() + ", on " + engine.store().describe() + "]";
  }

  CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
    String thread = Thread.currentThread().getName();
    return tryAcquireAsync(wait, thread, engine::run, engine.workers().users());
  }

  /**
   * As {@link #tryAcquireAsync(Duration)}.
   *
   * @param thread the name of the thread that asks, for people
   * @param asks runs what asks the store
   * @param completions where the future is completed
   */
  CompletableFuture<Optional<Lease>> tryAcquireAsync(
      Duration wait, String thread, Executor asks, Executor completions) {
    long waitNanos = Durations.waitNanos(wait);
    CompletableFuture<Optional<Lease>> future = new CompletableFuture<>();
    Waiter waiter = Waiter.async(engine, key.name(), waitNanos > 0, thread, future, completions);
    engine.enter(key, waiter, asks);
    long deadline = engine.time().nanos() + waitNanos;
    Time.Pending timeout =
        waitNanos > 0 && wait.compareTo(Durations.LONGEST) < 0
            ? engine.time().after(waitNanos, () -> waiter.timeOut(deadline))
            : () -> {};
    future.whenComplete(
        (lease, error) -> {
          timeout.cancel();
          waiter.abandonUnlessFor(lease);
        });
    return future;
  }
}
