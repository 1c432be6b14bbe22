package io.pawl;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Requests for one lock in one mode: what locks and semaphores have in common.
 *
 * <p>Who waits without a bound asks a store that blocks on its own thread, which saves two thread
 * switches. A wait with a bound must end whatever the driver does, and nobody can call a thread
 * back from it: there a worker asks, and the caller parks.
 */
record Requests(Engine engine, Engine.LineKey key) {

  Lease acquire() throws InterruptedException {
    return tryAcquire(Durations.LONGEST)
        .orElseThrow(() -> new IllegalStateException("a wait of 100 years has ended"));
  }

  Lease acquireUninterruptibly() {
    Waiter waiter = enter(true, Runnable::run);
    return waiter.awaitUninterruptibly(after(Durations.LONGEST.toNanos())).orElseThrow();
  }

  CompletableFuture<Lease> acquireAsync() {
    return Futures.present(tryAcquireAsync(Durations.LONGEST), lease -> lease.loan().drop());
  }

  <T> CompletableFuture<Optional<T>> callAsync(
      Duration wait, Function<Lease, CompletionStage<T>> body) {
    return new AsyncRun<>(engine, body).under(this, wait);
  }

  Optional<Lease> tryAcquire() {
    return enter(false, engine::run).awaitUninterruptibly(engine.time().nanos());
  }

  Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
    long waitNanos = Durations.waitNanos(wait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (waitNanos == 0) {
      return tryAcquire();
    }
    long deadline = after(waitNanos);
    return enter(true, isBounded(waitNanos) ? engine::run : Runnable::run).await(deadline);
  }

  private Waiter enter(boolean waits, Executor calls) {
    Waiter waiter = Waiter.blocking(engine, key.name(), waits, calls);
    engine.enter(key, waiter, calls);
    return waiter;
  }

  private long after(long nanos) {
    return engine.time().nanos() + nanos;
  }

  private static boolean isBounded(long waitNanos) {
    return waitNanos < Durations.LONGEST.toNanos();
  }

  String describe(String type) {
    return type + "[" + key.name() + ", " + key.mode() + ", on " + engine.store().describe() + "]";
  }

  /** One that was made, and when it has left nothing behind at the store. */
  record Made(Waiter waiter, CompletableFuture<Optional<Lease>> future) {

    /** Gives up the request, or what it was granted; the stage completes when the store knows. */
    CompletableFuture<Void> undo() {
      future.cancel(false);
      return waiter.gone();
    }
  }

  CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
    String thread = Thread.currentThread().getName();
    long deadline = engine.time().nanos();
    Made made = make(wait, thread, engine::run, engine.workers().users());
    if (wait.isZero() && !made.future.isDone()) {
      made.waiter.watch(deadline);
    }
    return made.future;
  }

  /**
   * As {@link #tryAcquireAsync(Duration)}, where whoever asks without a wait bounds it himself.
   *
   * @param thread the name of the thread that asks, for people
   * @param asks runs what asks the store
   * @param completions where the future is completed
   */
  Made make(Duration wait, String thread, Executor asks, Executor completions) {
    long waitNanos = Durations.waitNanos(wait);
    CompletableFuture<Optional<Lease>> future = new CompletableFuture<>();
    Waiter waiter = Waiter.async(engine, key.name(), waitNanos > 0, thread, future, completions);
    long deadline = after(waitNanos);
    engine.enter(key, waiter, asks);
    if (waitNanos > 0 && isBounded(waitNanos)) {
      waiter.watch(deadline);
    }
    future.whenComplete((lease, error) -> waiter.abandonUnlessFor(lease));
    return new Made(waiter, future);
  }
}
