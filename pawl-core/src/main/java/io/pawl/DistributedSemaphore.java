package io.pawl;

import io.pawl.concurrent.Durations;
import io.pawl.engine.Engine;
import io.pawl.engine.QueueKey;
import io.pawl.engine.Requests;
import io.pawl.engine.Retry;
import io.pawl.error.LockKindException;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore by name: a number of permits that all clients of the store share. Obtained from
 * {@link Pawl#semaphore}. The object is immutable, cheap and thread-safe, and holds nothing itself.
 *
 * <p>First come, first served, whatever number is asked for: a waiter that wants many permits is
 * not overtaken by waiters that want few. Permits of a holder that died come back when its lease
 * runs out. Except in {@linkplain LockOptions#strictOrder strict order}, threads of one client that
 * want the same number pass permits among themselves as they do with a lock.
 *
 * <p>The store keeps the capacity. The first grant fixes it, and {@link #changeCapacity} changes
 * it; a request with another capacity fails with {@link LockKindException}.
 *
 * <p>All methods that ask the store throw {@link StoreException} when it fails for longer than the
 * client's {@link PawlOptions#patience}, {@link LockKindException} when the name is a lock's or
 * that of a semaphore with another capacity, and {@link IllegalStateException} once the client is
 * closed.
 */
public final class DistributedSemaphore {

  private final Engine engine;
  private final String name;
  private final int capacity;
  private final LockOptions options;

  DistributedSemaphore(Engine engine, String name, int capacity, LockOptions options) {
    DistributedLock.refuseSticky(options, "semaphore", name);
    this.engine = engine;
    this.name = name;
    this.capacity = Kind.semaphore(capacity).capacity();
    this.options = options;
  }

  /** Returns the semaphore's name. */
  public String name() {
    return name;
  }

  /** Returns how many permits there are, as far as this object knows. */
  public int capacity() {
    return capacity;
  }

  /**
   * Waits until {@code permits} are held. One round trip when they are free.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in the
   *     queue
   */
  public Lease acquire(int permits) throws InterruptedException {
    return Lease.of(requests(permits).acquire());
  }

  /**
   * As {@link #acquire}, ignoring interrupts while waiting; the interrupt flag is kept.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   */
  public Lease acquireUninterruptibly(int permits) {
    return Lease.of(requests(permits).acquireUninterruptibly());
  }

  /**
   * As {@link #acquire}, without blocking; the wait has no bound. Cancelling the future leaves the
   * queue, and gives back permits that were granted at the same moment.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   */
  public CompletableFuture<Lease> acquireAsync(int permits) {
    return requests(permits)
        .tryAcquireAsync(Durations.LONGEST, loan -> Lease.of(loan.orElseThrow()));
  }

  /**
   * Takes {@code permits} if they are free now and nobody waits; empty otherwise. Ends within 500
   * ms, as {@link DistributedLock#tryAcquire()} does.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   */
  public Optional<Lease> tryAcquire(int permits) {
    return requests(permits).tryAcquire().map(Lease::of);
  }

  /**
   * Waits for {@code permits} for at most {@code wait}, as {@link DistributedLock#tryAcquire} does.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number, or a negative wait; nothing is sent
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in the
   *     queue
   */
  public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
    return requests(permits).tryAcquire(wait).map(Lease::of);
  }

  /**
   * As {@link #tryAcquire(int, Duration)}, without blocking. Cancelling the future leaves the
   * queue, and gives back permits that were granted at the same moment.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number, or a negative wait; nothing is sent
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
    return requests(permits).tryAcquireAsync(wait, loan -> loan.map(Lease::of));
  }

  /**
   * Returns how many permits are free now, as the store says. While others wait, free permits may
   * be on their way to one of them. For people and metrics: the answer may be out of date when it
   * arrives. One round trip on SQL and Redis, more on other stores.
   *
   * @return 0 to {@link #capacity}; {@link #capacity} if the semaphore has never been used
   * @throws LockKindException when the name is a lock's or that of a semaphore with another
   *     capacity
   * @throws UnsupportedOperationException when the store cannot be inspected
   */
  public int availablePermits() {
    return new Inspection(engine).availablePermits(name, Kind.semaphore(capacity));
  }

  /**
   * Changes the semaphore's capacity for all clients, and returns a semaphore with it; other
   * clients have to ask with the new capacity from now on. Additional permits are handed out at
   * once. With fewer permits, holders keep what they have, and nothing is handed out until enough
   * permits came back. Waiters of all clients keep their places and are served by the new capacity:
   * at once, or within 2 s for a waiter that waits behind threads of its own client alone when
   * another client made the change. A waiter that wants more permits than there are now gets a
   * {@link LockKindException}. One round trip.
   *
   * @param permits at least 1
   * @throws LockKindException when the name is that of a lock that somebody holds or waits for
   * @throws UnsupportedOperationException when the store cannot change a capacity
   * @throws StoreException when the store fails, or has not answered for the client's patience and
   *     its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a JDBC
   *     driver if that takes longer: it may still change the capacity
   */
  public DistributedSemaphore changeCapacity(int permits) {
    Kind kind = Kind.semaphore(permits);
    if (!(engine.store() instanceof Inspectable store)) {
      throw new UnsupportedOperationException(
          engine.store().describe() + " cannot change the capacity of '" + name + "'");
    }
    if (!Retry.ask(engine, name, () -> store.setKind(name, kind))) {
      throw new LockKindException(name, 0, permits);
    }
    engine.capacityIs(name, permits);
    return new DistributedSemaphore(engine, name, permits, options);
  }

  private Requests requests(int permits) {
    if (permits < 1 || permits > capacity) {
      throw new IllegalArgumentException(
          "semaphore '"
              + name
              + "' has "
              + capacity
              + " permits: "
              + permits
              + " cannot be asked for, only 1 to "
              + capacity);
    }
    Mode mode = new Mode.Permits(permits, capacity);
    return new Requests(engine, new QueueKey(name, options, mode));
  }

  @Override
  public String toString() {
    return "DistributedSemaphore[" + name + ", " + capacity + " permits]";
  }
}
