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
 * A semaphore by name: so many permits, among all clients of the store. Obtained from {@link
 * Pawl#semaphore}; immutable, cheap, thread-safe, holds nothing.
 *
 * <p>First come, first served, whatever number is asked for: who wants many permits is not
 * overtaken by those who want few. Permits of a holder that died come back with its lease. Unless
 * in {@linkplain LockOptions#strictOrder strict order}, threads of one client pass permits among
 * themselves as they do with a lock, if they want the same number.
 *
 * <p>The capacity is part of what the store keeps: whoever asks with another one is thrown {@link
 * LockKindException}. The first to be granted settles it; {@link #changeCapacity} changes it.
 *
 * <p>All methods that ask the store throw {@link StoreException} when it fails for longer than the
 * client's {@link PawlOptions#patience}, {@link LockKindException} where the name is a lock's or a
 * semaphore's of another capacity, and {@link IllegalStateException} once the client is closed.
 */
public final class DistributedSemaphore {

  private final Engine engine;
  private final String name;
  private final int capacity;
  private final LockOptions options;

  DistributedSemaphore(Engine engine, String name, int capacity, LockOptions options) {
    this.engine = engine;
    this.name = name;
    this.capacity = Kind.semaphore(capacity).capacity();
    this.options = options;
  }

  /** The semaphore's name. */
  public String name() {
    return name;
  }

  /** How many permits there are, as far as this object knows. */
  public int capacity() {
    return capacity;
  }

  /**
   * Waits until {@code permits} are held. One round trip when they are free.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in line
   */
  public Lease acquire(int permits) throws InterruptedException {
    return Lease.of(requests(permits).acquire());
  }

  /**
   * As {@link #acquire}, without regard to interrupts while waiting; the flag is kept.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number; nothing is sent
   */
  public Lease acquireUninterruptibly(int permits) {
    return Lease.of(requests(permits).acquireUninterruptibly());
  }

  /**
   * As {@link #acquire}, without blocking: waits for as long as it takes. Cancelling the future
   * leaves the line, and gives back permits that were granted at the same moment.
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
   * @throws InterruptedException when interrupted before or while waiting; nothing stays in line
   */
  public Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException {
    return requests(permits).tryAcquire(wait).map(Lease::of);
  }

  /**
   * As {@link #tryAcquire(int, Duration)}, without blocking. Cancelling the future leaves the line,
   * and gives back permits that were granted at the same moment.
   *
   * @param permits 1 to {@link #capacity}
   * @throws IllegalArgumentException for any other number, or a negative wait; nothing is sent
   */
  public CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait) {
    return requests(permits).tryAcquireAsync(wait, loan -> loan.map(Lease::of));
  }

  /**
   * How many permits nobody holds now, as the store says; with others waiting, they may be on their
   * way to one of them. For people and metrics: when the answer arrives it may be over. One round
   * trip.
   *
   * @return 0 to {@link #capacity}; all of them where nobody has used the semaphore yet
   * @throws LockKindException where the name is a lock's or a semaphore's of another capacity
   * @throws UnsupportedOperationException when the store cannot be looked into
   */
  public int availablePermits() {
    return new Inspection(engine).availablePermits(name, Kind.semaphore(capacity));
  }

  /**
   * Gives the semaphore another capacity, for all clients, and returns it; others have to ask with
   * the new one from now on. More permits are handed out at once. With fewer, holders keep what
   * they have, and nothing is handed out until enough came back. Whoever waits keeps its place, in
   * whichever client, and is served by the new capacity: at once, or within 2 s where it waits
   * behind threads of its own client alone and another client made the change. Who waits for more
   * permits than there are now is thrown {@link LockKindException}. One round trip.
   *
   * @param permits at least 1
   * @throws LockKindException when the name is a lock's that somebody holds or waits for
   * @throws UnsupportedOperationException where the store cannot do it
   */
  public DistributedSemaphore changeCapacity(int permits) {
    Kind kind = Kind.semaphore(permits);
    if (!(engine.store() instanceof Inspectable store)) {
      throw new UnsupportedOperationException(
          engine.store().describe() + " cannot change the capacity of '" + name + "'");
    }
    CompletableFuture<Boolean> done =
        Retry.start(engine, name, () -> store.setKind(name, kind), true);
    if (!Retry.await(engine, name, done)) {
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
