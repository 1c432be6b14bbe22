package io.pawl;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;

/**
 * A lock by name: whoever asks for the same name on the same store excludes each other, in this
 * process and in all others. Obtained from {@link Pawl#lock}; cheap, thread-safe, holds nothing.
 *
 * <p>Every request stands for itself: a thread that holds a lease and asks again waits for itself.
 * For reentrancy by thread see {@link #asJavaLock}.
 *
 * <p>All methods throw {@link StoreException} when the store fails for longer than the client's
 * {@link PawlOptions#patience}, and {@link IllegalStateException} once the client is closed.
 */
public final class DistributedLock {

  private final Engine engine;
  private final Engine.LineKey key;

  DistributedLock(Engine engine, String name, LockOptions options) {
    this.engine = engine;
    this.key = new Engine.LineKey(name, options);
  }

  /** The lock's name. */
  public String name() {
    return key.name();
  }

  /**
   * Waits until the lock is held. One round trip when it is free.
   *
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in line
   */
  public Lease acquire() throws InterruptedException {
    return tryAcquire(Durations.LONGEST)
        .orElseThrow(() -> new IllegalStateException("a wait of 100 years has ended"));
  }

  /** Takes the lock if it is free now, without waiting for a holder; empty when it is busy. */
  public Optional<Lease> tryAcquire() {
    Waiter waiter = Waiter.blocking(engine, key.name(), false);
    engine.enter(key, waiter, Runnable::run);
    return waiter.awaitUninterruptibly();
  }

  /**
   * Waits for the lock for at most {@code wait}; empty when it stayed busy. A store that has not
   * answered at all by then is given another 100 ms before this throws.
   *
   * @param wait 0 does not wait; more than 100 years are taken as 100 years
   * @throws IllegalArgumentException for a negative wait
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in line
   */
  public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
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

  /**
   * As {@link #tryAcquire(Duration)}, without blocking. Cancelling the future leaves the line, and
   * gives back a lease that was granted at the same moment.
   *
   * @throws IllegalArgumentException for a negative wait
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
    String thread = Thread.currentThread().getName();
    return request(wait, thread, engine::run, engine.workers().users());
  }

  /**
   * As {@link #tryAcquireAsync}.
   *
   * @param thread the name of the thread that asks, for people
   * @param asks runs what asks the store
   * @param completions where the future is completed
   */
  CompletableFuture<Optional<Lease>> request(
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
          waiter.abandon();
        });
    return future;
  }

  /**
   * Runs {@code body} while the lock is held: waits for at most {@code wait}, and gives the lock
   * back when the body has ended. Answers whether it ran; false when the lock stayed busy.
   *
   * <p>What the body throws is thrown; if the lease was lost as well, with the {@link
   * LeaseLostException} suppressed in it.
   *
   * @param body told its lease, which it should pass the token of along with its writes
   * @throws LeaseLostException when the lease was lost before the body had ended without fault
   * @throws InterruptedException when interrupted before or while waiting, or by the body
   */
  public <X extends Exception> boolean run(Duration wait, LeaseBody<X> body)
      throws InterruptedException, X {
    return run(wait, OnLoss.GO_ON, body);
  }

  /**
   * As {@link #run(Duration, LeaseBody)}.
   *
   * @param onLoss whether the body is interrupted when its lease is lost. Such an interrupt ends
   *     with the body: what it throws as {@link InterruptedException} becomes the {@link
   *     LeaseLostException}, and a flag that it left set is cleared. An interrupt of the caller's
   *     own is kept, unless it comes between that loss and the end of the body, where nobody can
   *     tell the two apart
   */
  public <X extends Exception> boolean run(Duration wait, OnLoss onLoss, LeaseBody<X> body)
      throws InterruptedException, X {
    return call(
            wait,
            onLoss,
            (LeaseCall<Boolean, X>)
                lease -> {
                  body.run(lease);
                  return true;
                })
        .isPresent();
  }

  /**
   * As {@link #run(Duration, LeaseBody)}, with the body's result; empty when the lock stayed busy.
   *
   * @throws NullPointerException when the body returned null
   */
  public <T, X extends Exception> Optional<T> call(Duration wait, LeaseCall<T, X> body)
      throws InterruptedException, X {
    return call(wait, OnLoss.GO_ON, body);
  }

  /** As {@link #call(Duration, LeaseCall)} and {@link #run(Duration, OnLoss, LeaseBody)}. */
  public <T, X extends Exception> Optional<T> call(
      Duration wait, OnLoss onLoss, LeaseCall<T, X> body) throws InterruptedException, X {
    Optional<Lease> lease = tryAcquire(wait);
    if (lease.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new BodyRun(engine, lease.get(), onLoss).call(body));
  }

  /**
   * The same lock as a {@link Lock} of {@code java.util.concurrent}: bound to the thread, reentrant
   * (across all views of this client for the same name), without conditions. A re-entry costs no
   * round trip and keeps the token. Where the lease was lost, {@code unlock} and a further {@code
   * lock} throw {@link LeaseLostException}.
   */
  public Lock asJavaLock() {
    return new JavaLock(engine, key);
  }

  @Override
  public String toString() {
    return "DistributedLock[" + name() + " on " + engine.store().describe() + "]";
  }
}
