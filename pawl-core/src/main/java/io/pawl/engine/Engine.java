package io.pawl.engine;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.SerialExecutor;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.concurrent.Workers;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Measured;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the locks of one client share: the store, time, workers, the {@link Renewer}, the {@link
 * Registry} of what is alive, and the {@link Lifecycle} of the client. Everything comes from
 * outside, so that the same engine runs under a virtual clock.
 *
 * <p>Threads: callers, one timer (never blocked, never in the store's I/O), {@link Workers}, and
 * whatever the store calls back on.
 */
public final class Engine {

  private static final long LONGEST_QUEUE_NANOS = 5_000_000_000L;
  private static final long LOOK_AGAIN_NANOS = 50_000_000;

  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  private final LockStore store;
  private final PawlOptions options;
  private final LockObserver observer;
  private final LockObserver observerLater;
  private final Time time;
  private final Workers workers;
  private final RandomGenerator random;
  private final Renewer renewer = new Renewer(this);
  private final long patienceNanos;
  private final long graceNanos;
  private final String clientId;
  private final Registry registry = new Registry(this);
  private final Lifecycle lifecycle = new Lifecycle(this);
  private final LateReleases lateReleases = new LateReleases(this);
  private final LongAdder missedBells = new LongAdder();
  private final LongAdder lateRenewals = new LongAdder();

  /**
   * @param random thread-safe
   */
  public Engine(
      LockStore store,
      PawlOptions options,
      Time time,
      Workers workers,
      RandomGenerator random,
      String clientId) {
    this.store = store;
    this.options = options;
    if (options.observer() == LockObserver.NONE) {
      this.observer = LockObserver.NONE;
      this.observerLater = LockObserver.NONE;
    } else {
      GuardedObserver guarded = new GuardedObserver(options.observer());
      SerialExecutor calls = new SerialExecutor(workers.callbacks(), "calls of a lock observer");
      this.observer = guarded;
      this.observerLater = new LaterObserver(guarded, calls);
    }
    this.time = time;
    this.workers = workers;
    this.random = random;
    this.patienceNanos = options.patience().toNanos();
    this.graceNanos = store.answerTime().toNanos();
    this.clientId = clientId;
  }

  /** Unique among all clients of all stores. */
  public String clientId() {
    return clientId;
  }

  public LockStore store() {
    return store;
  }

  public Time time() {
    return time;
  }

  public Workers workers() {
    return workers;
  }

  public RandomGenerator random() {
    return random;
  }

  Renewer renewer() {
    return renewer;
  }

  Registry registry() {
    return registry;
  }

  public Lifecycle lifecycle() {
    return lifecycle;
  }

  public PawlOptions options() {
    return options;
  }

  /** Whether somebody listens to what happens. */
  boolean isObserved() {
    return observer != LockObserver.NONE;
  }

  /** For threads of users'. */
  public LockObserver observer() {
    return observer;
  }

  /** For all others: calls the observer on the users' executor, in order. */
  public LockObserver observerLater() {
    return observerLater;
  }

  /** {@code stage} as users get it: what they attach to it runs on their executor. */
  public <T extends @Nullable Object> CompletableFuture<T> forUser(CompletableFuture<T> stage) {
    if (stage.isDone()) {
      return stage.copy();
    }
    CompletableFuture<T> promise = new CompletableFuture<>();
    stage.whenCompleteAsync(
        (value, error) -> Futures.complete(promise, value, error), workers.users());
    return promise;
  }

  public long patienceNanos() {
    return patienceNanos;
  }

  /** How long the store may be silent before a wait that is over ends in an exception. */
  public long graceNanos() {
    return graceNanos;
  }

  /**
   * How long to wait before looking again for an answer that is late by so much, since the store is
   * at work for others; 0 where it is not, or after 5 s.
   */
  long queueingNanos(long lateNanos) {
    return lateNanos < LONGEST_QUEUE_NANOS && store.servesOthers() ? LOOK_AGAIN_NANOS : 0;
  }

  /** Runs what calls the store, on a thread that may block if the store does. */
  public void run(Runnable call) {
    if (store.blocks()) {
      workers.stores().execute(call);
    } else {
      call.run();
    }
  }

  /** As {@link #run}, where what others ask of the store does not come first. */
  void runRenewal(Runnable call) {
    if (store.blocks()) {
      workers.renewals().execute(call);
    } else {
      call.run();
    }
  }

  /**
   * Runs calls to the store.
   *
   * @param mayBlock whether the calling thread would wait for the store anyway
   */
  void call(List<Runnable> calls, boolean mayBlock) {
    for (Runnable call : calls) {
      if (!mayBlock) {
        run(call);
      } else if (calls.size() == 1) {
        StoreCalls.run(store::awaited, call);
      } else {
        call.run(); // of several none waits for the answer to another
      }
    }
  }

  /** Runs calls that give {@code lock} back, which nobody waits for. */
  void callLate(String lock, List<Runnable> calls) {
    if (store.blocks() && !calls.isEmpty()) {
      lateReleases.add(lock, calls);
    } else {
      call(calls, false);
    }
  }

  LateReleases lateReleases() {
    return lateReleases;
  }

  /** As {@link #call}, in one trip where the store can. */
  void callTogether(List<Runnable> calls, boolean mayBlock) {
    Runnable together = () -> StoreCalls.run(store::together, () -> calls.forEach(Runnable::run));
    if (mayBlock) {
      together.run();
    } else {
      run(together);
    }
  }

  /**
   * Waits until the store knows that something was given back, no longer than its patience.
   *
   * @param since when that began: a store that blocks may have taken its time already
   */
  public void awaitConfirmation(
      CompletableFuture<Void> confirmed, long since, Supplier<String> what) {
    if (confirmed.isDone()) {
      return;
    }
    long left = since + patienceNanos - time.nanos();
    if (!Uninterruptibly.await(confirmed, left)) {
      log.warn("{}: giving it back goes on in the background", what.get());
    }
  }

  StoreUnavailableException silentStore() {
    return new StoreUnavailableException(store.describe() + " has not answered");
  }

  void noteMissedBell() {
    missedBells.increment();
  }

  void noteLateRenewal() {
    lateRenewals.increment();
  }

  /** The hold whose renewal is the oldest, measured against its lease; null where none is held. */
  public @Nullable RenewalAge oldestRenewal() {
    long now = time.nanos();
    AtomicReference<@Nullable RenewalAge> oldest = new AtomicReference<>();
    registry.forEachClaim(
        claim -> {
          RenewalAge age = new RenewalAge(claim.claim(), claim.ageNanos(now));
          RenewalAge known = oldest.get();
          boolean older = age.nanos() > 0 && (known == null || age.share() > known.share());
          if (older && claim.queue().isLent(claim)) {
            oldest.set(age);
          }
        });
    return oldest.get();
  }

  /** How long ago a hold was renewed. */
  public record RenewalAge(Claim claim, long nanos) {

    double share() {
      return (double) nanos / claim.lease().toNanos();
    }
  }

  /** What was counted: see {@link Measured#figures}. */
  public SortedMap<String, Long> figures() {
    SortedMap<String, Long> figures = new TreeMap<>();
    figures.put("bells.missed", missedBells.sum());
    figures.put("renewals.late", lateRenewals.sum());
    if (store instanceof Measured measured) {
      figures.putAll(measured.figures());
    }
    return figures;
  }

  /** This client has changed the capacity of a semaphore. */
  public void capacityIs(String semaphore, int capacity) {
    registry.capacityIs(semaphore, capacity);
  }

  /** Nobody stands in the queue, nothing is held, and nothing is on its way to the store. */
  public boolean isIdle() {
    return registry.isEmpty() && lifecycle.isIdle() && renewer.isIdle();
  }
}
