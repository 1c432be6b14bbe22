package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Futures;
import io.pawl.engine.Engine;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.error.LeaseLostException;
import io.pawl.error.LockKindException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;

/**
 * A lock by name: requests for the same name on the same store exclude each other, in this process
 * and in all others. Obtained from {@link Pawl#lock}. The object is cheap and thread-safe, and
 * holds nothing itself. A lock is also the writers' side of the {@link DistributedReadWriteLock} of
 * its name.
 *
 * <p>Requests are not reentrant: a thread that holds a lease and asks again waits for itself. For
 * reentrancy by thread see {@link #asJavaLock}.
 *
 * <p>All methods throw {@link StoreException} when the store fails for longer than the client's
 * {@link PawlOptions#patience}, counted from the call, {@link LockKindException} when the name is a
 * semaphore's, and {@link IllegalStateException} once the client is closed.
 */
public final class DistributedLock {

  private final Requests requests;
  private final ReentrantHolds threads;

  DistributedLock(Engine engine, String name, LockOptions options) {
    this(engine, name, options, Mode.EXCLUSIVE, new ReentrantHolds());
  }

  /**
   * @param threads the {@link JavaLock}s that the client's threads have entered
   */
  DistributedLock(
      Engine engine, String name, LockOptions options, Mode mode, ReentrantHolds threads) {
    this.requests = new Requests(engine, new QueueKey(name, options, mode));
    this.threads = threads;
  }

  /** For what does not keep a hold after a release. */
  static void refuseSticky(LockOptions options, String what, String name) {
    if (!options.sticky().isZero()) {
      throw new IllegalArgumentException(
          "sticky: "
              + options.sticky()
              + " is for locks alone; leave it out for the "
              + what
              + " '"
              + name
              + "'");
    }
  }

  /** Returns the lock's name. */
  public String name() {
    return requests.key().name();
  }

  /**
   * Waits until the lock is held. One round trip when it is free.
   *
   * <p>If the store's driver blocks, this thread calls it, and notices an interrupt when the driver
   * has answered or given up: after 5 s on a SQLite file that is locked. A wait with a bound, even
   * of a year, notices an interrupt at once.
   *
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in the
   *     queue
   */
  public Lease acquire() throws InterruptedException {
    return Lease.of(requests.acquire());
  }

  /** As {@link #acquire}, ignoring interrupts while waiting; the interrupt flag is kept. */
  public Lease acquireUninterruptibly() {
    return Lease.of(requests.acquireUninterruptibly());
  }

  /**
   * As {@link #acquire}, without blocking; the wait has no bound. Cancelling the future leaves the
   * queue, and releases a lease that was granted at the same moment.
   */
  public CompletableFuture<Lease> acquireAsync() {
    return requests.tryAcquireAsync(Durations.LONGEST, loan -> Lease.of(loan.orElseThrow()));
  }

  /**
   * Takes the lock if it is free now, without waiting for a holder; empty when it is busy. Ends
   * within 500 ms, whatever the store does. An interrupt is kept for later.
   *
   * @throws StoreUnavailableException when the store has not answered within 500 ms, or within a
   *     longer time that {@link io.pawl.spi.LockStore#answerTime} sets
   */
  public Optional<Lease> tryAcquire() {
    return requests.tryAcquire().map(Lease::of);
  }

  /**
   * As {@link #tryAcquire()}, but a store that does not answer is waited for, and asked again by
   * the same claim, for the client's {@linkplain io.pawl.options.PawlOptions#patience patience}:
   * for what is tried seldom, as a job is. An interrupt is kept for later.
   *
   * @throws StoreUnavailableException when the store has not answered for the patience and 500 ms,
   *     or the longer time that {@link io.pawl.spi.LockStore#answerTime} sets
   */
  public Optional<Lease> tryAcquirePatiently() {
    return requests.tryAcquirePatiently().map(Lease::of);
  }

  /**
   * Waits for the lock for at most {@code wait}; empty when it stayed busy. A store that has not
   * answered at all by then gets another 500 ms before this method throws. It gets the same time to
   * confirm that this client has left the queue.
   *
   * @param wait 0 does not wait; more than 100 years count as 100 years
   * @throws IllegalArgumentException for a negative wait
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in the
   *     queue
   */
  public Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
    return requests.tryAcquire(wait).map(Lease::of);
  }

  /**
   * As {@link #tryAcquire(Duration)}, without blocking. Cancelling the future leaves the queue, and
   * releases a lease that was granted at the same moment.
   *
   * @throws IllegalArgumentException for a negative wait
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
    return requests.tryAcquireAsync(wait, loan -> loan.map(Lease::of));
  }

  /**
   * Runs {@code body} while the lock is held: waits for the lock for at most {@code wait}, and
   * releases it when the body has ended. Returns whether the body ran; false when the lock stayed
   * busy.
   *
   * <p>An exception of the body is thrown on; if the lease was lost as well, the {@link
   * LeaseLostException} is suppressed in it.
   *
   * @param body called with its lease, whose token it should send with its writes
   * @throws LeaseLostException when the lease was lost before the body ended normally
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
   *     with the body: an {@link InterruptedException} that it causes becomes the {@link
   *     LeaseLostException}, and an interrupt flag that the body left set is cleared. An interrupt
   *     of the caller's own is kept, unless it comes between the loss and the end of the body,
   *     where the two cannot be told apart
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
    BodyRun run = new BodyRun(requests.engine(), onLoss);
    Optional<Lease> lease = tryAcquire(wait);
    if (lease.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(run.call(lease.get(), body));
  }

  /**
   * Runs {@code body} while the lock is held, without blocking: waits for the lock for at most
   * {@code wait}, and releases it when the stage that the body returned has completed, normally or
   * not. The future's value says whether the body ran; false when the lock stayed busy. The future
   * completes when the store has confirmed the release, or the client's patience is over.
   *
   * <p>An exception that the body throws, or that its stage fails with, fails the future; if the
   * lease was lost as well, the {@link LeaseLostException} is suppressed in it. If only the lease
   * was lost, that exception fails the future. Nothing interrupts the body, which may use {@link
   * Lease#onLost}.
   *
   * <p>Cancelling the future leaves the queue. Once the body runs, the lock is held until its stage
   * completes, cancelled or not.
   *
   * @param body called on the client's {@linkplain PawlOptions#executor executor}; a body whose
   *     stage never completes keeps the lock as long as somebody can still complete the stage
   * @throws IllegalArgumentException for a negative wait
   */
  public CompletableFuture<Boolean> runAsync(
      Duration wait, Function<? super Lease, ? extends CompletionStage<?>> body) {
    return Futures.mapped(
        callAsync(wait, lease -> Futures.mapped(body.apply(lease), nothing -> true)),
        Optional::isPresent);
  }

  /**
   * As {@link #runAsync}, with the result of the body's stage; empty when the lock stayed busy. A
   * null result fails the future.
   */
  public <T> CompletableFuture<Optional<T>> callAsync(
      Duration wait, Function<? super Lease, ? extends CompletionStage<T>> body) {
    return new AsyncRun<T>(requests.engine(), body::apply).under(tryAcquireAsync(wait));
  }

  /**
   * Returns the same lock as a {@link Lock} of {@code java.util.concurrent}: bound to the thread,
   * reentrant (across all views of this client for the same name), without conditions. A re-entry
   * costs no round trip and keeps the token. If the lease was lost, {@code unlock} and a further
   * {@code lock} throw {@link LeaseLostException}. {@code tryLock()} overtakes the waiters of this
   * client, except that a reader does not overtake a writer. The thread that holds the lock can ask
   * for its {@linkplain JavaLock#token token} and its {@linkplain JavaLock#isValid validity}.
   */
  public JavaLock asJavaLock() {
    return new JavaLock(requests, threads);
  }

  @Override
  public String toString() {
    return requests.describe("DistributedLock");
  }
}
