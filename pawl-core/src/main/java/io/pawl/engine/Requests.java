package io.pawl.engine;

import io.pawl.concurrent.Durations;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Requests for one lock in one mode: what locks, semaphores and groups have in common.
 *
 * <p>Who waits without a bound asks a store that blocks on its own thread, which saves two thread
 * switches. A wait with a bound must end whatever the driver does, and nobody can call a thread
 * back from it: there a worker asks, and the caller parks.
 */
public record Requests(Engine engine, QueueKey key) {

  /** The lock's name. */
  public String name() {
    return key.name();
  }

  /** What is asked for. */
  public Mode mode() {
    return key.mode();
  }

  /** Waits for as long as it takes, or until interrupted. */
  public Loan acquire() throws InterruptedException {
    return tryAcquire(Durations.LONGEST)
        .orElseThrow(() -> new IllegalStateException("a wait of 100 years has ended"));
  }

  /** Waits for as long as it takes; an interrupt is kept for later. */
  public Loan acquireUninterruptibly() {
    Waiter<Optional<Loan>> waiter = enter(true, true);
    return waiter.awaitUninterruptibly(after(waiter, Durations.LONGEST.toNanos())).orElseThrow();
  }

  /** Asks once; empty where it is busy. */
  public Optional<Loan> tryAcquire() {
    return enter(false, false).awaitUninterruptibly(engine.time().nanos());
  }

  /** As {@link #tryAcquire()}, but waits for the store's answer for the client's patience more. */
  public Optional<Loan> tryAcquirePatiently() {
    Waiter<Optional<Loan>> waiter = enter(false, false);
    return waiter.awaitUninterruptibly(after(waiter, engine.patienceNanos()));
  }

  /** Waits for at most {@code wait}; empty where it stayed busy. */
  public Optional<Loan> tryAcquire(Duration wait) throws InterruptedException {
    long waitNanos = Durations.waitNanos(wait);
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (waitNanos == 0) {
      return tryAcquire();
    }
    Waiter<Optional<Loan>> waiter = enter(true, !isBounded(waitNanos));
    return waiter.await(after(waiter, waitNanos));
  }

  private Waiter<Optional<Loan>> enter(boolean waits, boolean mayBlock) {
    Waiter<Optional<Loan>> waiter = Waiter.blocking(engine, key.name(), waits, mayBlock);
    engine.call(engine.registry().enter(key, waiter), mayBlock);
    return waiter;
  }

  private static long after(Waiter<?> begun, long nanos) {
    return begun.enteredAt() + nanos;
  }

  private static boolean isBounded(long waitNanos) {
    return waitNanos < Durations.LONGEST.toNanos();
  }

  /** For people: {@code type} is what the user calls it. */
  public String describe(String type) {
    return type + "[" + key.name() + ", " + key.mode() + ", on " + engine.store().describe() + "]";
  }

  /**
   * One that was made.
   *
   * @param <T> what the future is completed with
   * @param calls to the store, which its maker runs
   */
  record Made<T>(Waiter<T> waiter, CompletableFuture<T> future, List<Runnable> calls) {

    /** Gives up the request, or what it was granted; the stage completes when the store knows. */
    CompletableFuture<Void> undo() {
      future.cancel(false);
      return waiter.gone();
    }
  }

  /**
   * As {@link #tryAcquire(Duration)}, without blocking. Cancelling the future leaves the queue, and
   * gives back what was granted at the same moment.
   *
   * @param result what the future is completed with, on the users' executor
   */
  public <T> CompletableFuture<T> tryAcquireAsync(
      Duration wait, Function<Optional<Loan>, T> result) {
    Asker asker = Asker.here(engine, key.name());
    long deadline = engine.time().nanos();
    Made<T> made = make(wait, asker, result, engine.workers().users());
    engine.call(made.calls, false);
    if (wait.isZero() && !made.future.isDone()) {
      made.waiter.watch(deadline);
    }
    return made.future;
  }

  /**
   * As {@link #tryAcquireAsync}, where the caller runs the calls to the store, and bounds a request
   * without a wait himself.
   *
   * @param asker who asks, for people
   * @param completions where the future is completed
   */
  <T> Made<T> make(
      Duration wait, Asker asker, Function<Optional<Loan>, T> result, Executor completions) {
    long waitNanos = Durations.waitNanos(wait);
    CompletableFuture<T> future = new CompletableFuture<>();
    Waiter<T> waiter =
        Waiter.async(engine, key.name(), waitNanos > 0, asker, future, result, completions);
    List<Runnable> calls = engine.registry().enter(key, waiter);
    try {
      if (waitNanos > 0 && isBounded(waitNanos)) {
        waiter.watch(after(waiter, waitNanos));
      }
      future.whenComplete((value, error) -> waiter.abandonUnlessFor(value));
      return new Made<>(waiter, future, calls);
    } catch (RuntimeException | Error e) { // a claim that is never asked would block its queue
      engine.call(calls, false);
      waiter.abandonUnlessFor(null);
      throw e;
    }
  }
}
