package io.pawl;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Workers;
import io.pawl.counter.BasketChange;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.engine.Engine;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockName;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.math.BigInteger;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client of one store. Open one per store and process, share it among threads, and close it at
 * the end. Closing waits for holders and leaves no thread, timer or connection behind.
 *
 * <p>Thread-safe.
 */
public final class Pawl implements AutoCloseable {

  private static final AtomicInteger clients = new AtomicInteger();
  private static final SecureRandom ids = new SecureRandom();

  private final Engine engine;
  private final Counters counters;
  private final Inspection inspection;
  private final Maintenance maintenance;
  private final Retainer retainer;
  private final ReentrantHolds threads = new ReentrantHolds();
  private final Candidacies candidacies = new Candidacies();
  private final SystemTime time;
  private final Workers workers;
  private final LockStore store;
  private final boolean ownsStore;
  private final Duration grace;
  private final Thread hook;

  private Pawl(LockStore store, boolean ownsStore, PawlOptions options) {
    int number = clients.incrementAndGet();
    this.store = store;
    this.ownsStore = ownsStore;
    this.grace = options.shutdownGrace();
    this.time = new SystemTime("pawl-" + number + "-timer");
    this.workers = Workers.pools("pawl-" + number, options.executor(), time);
    try {
      Random random = new Random(ids.nextLong());
      this.engine = new Engine(store, options, time, workers, random, clientId());
      this.counters = new Counters(engine);
      this.inspection = new Inspection(engine);
      this.maintenance = new Maintenance(engine, counters);
      this.retainer =
          new Retainer(
              engine,
              options.retention(),
              maintenance,
              "pawl-" + number + "-retention",
              Retainer.Pace.USUAL);
      this.hook = DaemonThreads.named("pawl-" + number + "-shutdown", () -> endAll(grace));
      if (options.releaseAtShutdown()) {
        addHook();
      }
      retainer.start();
    } catch (RuntimeException | Error e) {
      time.close();
      workers.shutdown();
      throw e;
    }
  }

  private void addHook() {
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      throw new IllegalStateException("the JVM is shutting down: no client can be opened", e);
    }
  }

  /** 128 random bits: no two clients share claims. */
  private static String clientId() {
    return new BigInteger(128, ids).toString(36);
  }

  /**
   * Opens a client on the store at {@code url}, such as {@code sqlite:/var/lib/app/locks.db}.
   *
   * <p>{@code memory:} is a new store, private to this client. {@code memory:name} is the store of
   * that name in this JVM: all clients that name it share it. When the last of them is closed and
   * no hold is left to run out, the store is forgotten with everything in it, tokens included.
   *
   * @throws IllegalArgumentException when the URL is invalid or its module is missing
   * @throws StoreException when the store cannot be reached or used
   */
  public static Pawl connect(String url) {
    return connect(url, PawlOptions.defaults());
  }

  /** As {@link #connect(String)}, with options. */
  public static Pawl connect(String url, PawlOptions options) {
    LockStore store = Stores.open(StoreUrl.parse(url));
    try {
      return new Pawl(store, true, options);
    } catch (RuntimeException | Error e) {
      store.close();
      throw e;
    }
  }

  /** Opens a client on the embedded store in the user's state directory; needs {@code pawl-sql}. */
  public static Pawl open() {
    return connect(Stores.embeddedUrl());
  }

  /**
   * Opens a client over a store that stays the caller's: closing the client leaves the store open.
   */
  public static Pawl over(LockStore store) {
    return over(store, PawlOptions.defaults());
  }

  /** As {@link #over(LockStore)}, with options. */
  public static Pawl over(LockStore store, PawlOptions options) {
    return new Pawl(store, false, options);
  }

  /**
   * Returns the lock of this name with default options. No round trip.
   *
   * @param name 1 to 512 bytes of UTF-8 without control characters, compared byte for byte
   * @throws IllegalArgumentException for any other name
   */
  public DistributedLock lock(String name) {
    return lock(name, LockOptions.defaults());
  }

  /** As {@link #lock(String)}, with options. */
  public DistributedLock lock(String name, LockOptions options) {
    return new DistributedLock(engine, LockName.check(name), options, Mode.EXCLUSIVE, threads);
  }

  /**
   * Returns the read-write lock of this name with default options. No round trip.
   *
   * @param name as for {@link #lock(String)}
   */
  public DistributedReadWriteLock readWriteLock(String name) {
    return readWriteLock(name, LockOptions.defaults());
  }

  /** As {@link #readWriteLock(String)}, with options. */
  public DistributedReadWriteLock readWriteLock(String name, LockOptions options) {
    return new DistributedReadWriteLock(engine, LockName.check(name), options, threads);
  }

  /**
   * Returns the semaphore of this name with default options. No round trip.
   *
   * @param name as for {@link #lock(String)}
   * @param capacity the number of permits in all, at least 1
   * @throws IllegalArgumentException for any other name or capacity
   */
  public DistributedSemaphore semaphore(String name, int capacity) {
    return semaphore(name, capacity, LockOptions.defaults());
  }

  /** As {@link #semaphore(String, int)}, with options. */
  public DistributedSemaphore semaphore(String name, int capacity, LockOptions options) {
    return new DistributedSemaphore(engine, LockName.check(name), capacity, options);
  }

  /**
   * Returns the counter of this name. No round trip. The counter exists from its first change on;
   * it starts at 0 with a floor of 0.
   *
   * @param name as for {@link #lock(String)}, and different from the name of every lock on the same
   *     store
   * @throws IllegalArgumentException for any other name
   */
  public Counter counter(String name) {
    return new Counter(counters, LockName.check("counter name", name, LockName.MAX_BYTES));
  }

  /**
   * Takes from several counters at once: everything, or nothing. A repetition under the same id is
   * harmless and has the same result as the first call.
   *
   * @param amounts the amount by counter name: 1 to 100 counters, each amount 1 to 2^53 − 1
   * @param id of the operation; its first use counts as now unless the id carries a time
   * @throws IllegalArgumentException for an invalid basket, name or amount
   * @throws UnsupportedOperationException when the store has no counters
   * @throws StoreException when nothing could be sent; nothing was taken
   * @throws OutcomeUnknownException when the request was sent and the store did not answer within
   *     the client's patience
   * @throws OperationConflictException when the id was used for another operation
   * @throws OperationTooOldException when the id is older than what the store remembers
   */
  public BasketChange tryTakeAll(Map<String, Long> amounts, OperationId id) {
    return counters.takeAll(amounts, id).now();
  }

  /** As {@link #tryTakeAll}, without blocking. */
  public CompletableFuture<BasketChange> tryTakeAllAsync(
      Map<String, Long> amounts, OperationId id) {
    return counters.takeAll(amounts, id).later();
  }

  /**
   * Returns a group of locks with default options, which are taken together or not at all. No round
   * trip.
   *
   * @param names 1 to 256 different names, each as for {@link #lock(String)}, in any order
   * @throws IllegalArgumentException for no name, too many names, a name given twice, or an invalid
   *     name
   */
  public LockGroup lockAll(String... names) {
    return lockAll(Arrays.asList(names));
  }

  /** As {@link #lockAll(String...)}. */
  public LockGroup lockAll(Collection<String> names) {
    return lockAll(names, LockOptions.defaults());
  }

  /** As {@link #lockAll(String...)}, with the same options for all locks. */
  public LockGroup lockAll(Collection<String> names, LockOptions options) {
    return new LockGroup(engine, names, options);
  }

  /**
   * Returns a job that only one of many machines runs at a time, under the lock of this name. No
   * round trip.
   *
   * @param name as in {@link #lock(String)}
   */
  public ScheduledJob job(String name) {
    return job(name, LockOptions.defaults());
  }

  /** As {@link #job(String)}, with options; its order is always strict. */
  public ScheduledJob job(String name, LockOptions options) {
    return new ScheduledJob(engine, name, options);
  }

  /**
   * Returns an election of one leader, which holds the lock of this name. No round trip.
   *
   * @param name as in {@link #lock(String)}
   */
  public Election election(String name) {
    return election(name, LockOptions.defaults());
  }

  /** As {@link #election(String)}, with options; its order is always strict. */
  public Election election(String name, LockOptions options) {
    return new Election(engine, candidacies, name, options);
  }

  /**
   * Returns who holds and who waits for the lock or semaphore of this name, as the store says.
   * Holders and waiters are left alone. One round trip on SQL and Redis, more on other stores.
   *
   * @param name as for {@link #lock(String)}; a name that the store does not know has no holder
   * @throws IllegalArgumentException for an invalid name
   * @throws UnsupportedOperationException when the store cannot be inspected
   * @throws StoreException when the store fails, or has not answered for the client's patience and
   *     its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a JDBC
   *     driver if that takes longer
   */
  public LockSnapshot inspect(String name) {
    return inspection.of(LockName.check(name));
  }

  /**
   * Takes the lock away from the holder whose hold has {@code token}, as if the hold had run out,
   * and grants it to the next in the queue. The holder is not asked: it learns of the loss at its
   * next renewal, a third of its lease later at most, and without renewal at the end of its lease.
   * Until then two may be at work; a fence refuses the writes of the first.
   *
   * @param name as for {@link #lock(String)}
   * @param token any token of the hold: {@link Lease#token}, or one that {@link #inspect} shows
   * @return whether there was such a hold; false also when the store ended it and its answer was
   *     lost. In either case there is no such hold any more
   * @throws IllegalArgumentException for an invalid name
   * @throws UnsupportedOperationException when the store cannot evict
   * @throws StoreException when the store fails, or has not answered for the client's patience and
   *     its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a JDBC
   *     driver if that takes longer: it may still end the hold
   */
  public boolean evict(String name, long token) {
    return inspection.evict(LockName.check(name), token);
  }

  /** Returns what keeps the store small, and what has to be done after it was restored. */
  public Maintenance maintenance() {
    return maintenance;
  }

  /**
   * Returns what this client has counted since it was opened, for gauges and rates: names, and
   * numbers that only grow. No round trip.
   *
   * <p>{@code bells.missed} counts the waits that ended because the client asked before it heard a
   * bell: each may have lasted 2 s too long. {@code renewals.late} counts the renewals of leases
   * that were answered when more than two thirds of the lease had passed. {@code counters.refused}
   * counts the changes of counters that were refused, baskets as one. What else there is depends on
   * the store: on SQL {@code locks.batches} and {@code locks.requests}, {@code locks.repeated}
   * transactions, requests {@code locks.putOff} for a row that others had locked, and the same for
   * {@code counters}. Behind a gate the names begin with {@code truth.}
   */
  public SortedMap<String, Long> figures() {
    SortedMap<String, Long> figures = engine.figures();
    figures.put("counters.refused", counters.refused());
    return figures;
  }

  /**
   * How long ago a lease was renewed.
   *
   * @param lock the name of its lock
   * @param age since the last renewal that the store has answered was sent, or since the request
   * @param lease its length: a lease is renewed every third of it, and lost when it has passed
   */
  public record Renewal(String lock, Duration age, Duration lease) {

    /** Returns the part of the lease that has passed since: 0 to 1, above 1/3 where it is late. */
    public double share() {
      return (double) age.toNanos() / lease.toNanos();
    }
  }

  /**
   * Returns of all leases that this client holds and renews the one of which the largest part has
   * passed since its renewal; empty where there is none. No round trip; it looks at each lease.
   */
  public Optional<Renewal> oldestRenewal() {
    return Optional.ofNullable(engine.oldestRenewal())
        .map(
            oldest ->
                new Renewal(
                    oldest.claim().lock(),
                    Duration.ofNanos(oldest.nanos()),
                    oldest.claim().lease()));
  }

  Retainer retainer() {
    return retainer;
  }

  /** As {@link #close(Duration)}, with the grace of {@link PawlOptions#shutdownGrace}. */
  @Override
  public void close() {
    close(grace);
  }

  /** Returns whether the client refuses new requests, since it was or is being closed. */
  public boolean isClosed() {
    return engine.lifecycle().isClosed();
  }

  /**
   * Closes the client:
   *
   * <ol>
   *   <li>new requests and waiters are refused with {@link IllegalStateException};
   *   <li>{@link Lease#onClosing} callbacks are called, and the bodies of leaders are interrupted;
   *   <li>the call waits until every lease has been closed, for at most {@code holders}, and the
   *       leases are renewed meanwhile;
   *   <li>closed leases are given back to the store, for which the call waits at most 5 s;
   *   <li>a lease that is still held is lost: {@link Lease#onLost} is called, and the lock stays
   *       busy until it runs out at the store, so that nobody gets in beside a body that goes on.
   * </ol>
   *
   * The rest of a {@link LockOptions#minHold} stays behind too, until it is over at the store. All
   * threads of Pawl end except those that user code blocks. Idempotent. A thread that holds a lease
   * should close the lease first; otherwise it waits for itself.
   *
   * @param holders how long to wait for holders, 0 to 1 hour
   * @throws IllegalArgumentException for any other duration
   */
  public void close(Duration holders) {
    if (holders.isNegative() || holders.compareTo(Duration.ofHours(1)) > 0) {
      throw new IllegalArgumentException("grace: " + holders + " is not between 0 and 1 hour");
    }
    endAll(holders);
    time.close();
    workers.shutdown();
    removeHook();
    if (ownsStore) {
      store.close();
    }
  }

  private void endAll(Duration holders) {
    long over = System.nanoTime() + holders.toNanos();
    retainer.stop();
    candidacies.stop();
    engine.lifecycle().beginClosing();
    engine.lifecycle().endClosing(over - System.nanoTime(), candidacies.ended());
  }

  private void removeHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException jvmIsShuttingDown) {
      // the hook runs, or has run: there is nothing left to remove
    }
  }

  @Override
  public String toString() {
    return "Pawl[" + store.describe() + "]";
  }
}
