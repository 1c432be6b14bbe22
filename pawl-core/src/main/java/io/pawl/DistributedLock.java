package io.pawl;

import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

/**
 * A lock by name: whoever asks for the same name on the same store excludes each other, in this
 * process and in all others. Obtained from {@link Pawl#lock}; cheap, thread-safe, holds nothing. A
 * lock by name is also the writers' side of the {@link DistributedReadWriteLock} of that name.
 *
 * <p>Every request stands for itself: a thread that holds a lease and asks again waits for itself.
 * For reentrancy by thread see {@link #asJavaLock}.
 *
 * <p>All methods throw {@link StoreException} when the store fails for longer than the client's
 * {@link PawlOptions#patience}, {@link LockKindException} where the name is a semaphore's, and
 * {@link IllegalStateException} once the client is closed.
 */
public final class DistributedLock {

  private final Requests requests;

  DistributedLock(Engine engine, String name, LockOptions options) {
    this(engine, name, options, Mode.EXCLUSIVE);
  }

  DistributedLock(Engine engine, String name, LockOptions options, Mode mode) {
    this.requests = new Requests(engine, new Engine.LineKey(name, options, mode));
  }

  /** The lock's name. */
  public String name() {
    return requests.key().name();
  }

  /**
   * Waits until the lock is held. One round trip when it is free.
   *
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in line
   */
  public Lease acquire() throws InterruptedException {
    return requests.acquire();
  }

  /** Takes the lock if it is free now, without waiting for a holder; empty when it is busy. */
  public Optional<Lease> tryAcquire() {
    return requests.tryAcquire();
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
    return requests.tryAcquire(wait);
  }

  /**
   * As {@link #tryAcquire(Duration)}, without blocking. Cancelling the future leaves the line, and
   * gives back a lease that was granted at the same moment.
   *
   * @throws IllegalArgumentException for a negative wait
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
    return requests.tryAcquireAsync(wait);
  }

  /**
   * The same lock as a {@link Lock} of {@code java.util.concurrent}: bound to the thread, reentrant
   * (across all views of this client for the same name), without conditions. A re-entry costs no
   * round trip and keeps the token. Where the lease was lost, {@code unlock} and a further {@code
   * lock} throw {@link LeaseLostException}. {@code tryLock()} overtakes whoever waits in this
   * client.
   */
  public Lock asJavaLock() {
    return new JavaLock(requests);
  }

  @Override
  public String toString() {
    return requests.describe("DistributedLock");
  }
}
