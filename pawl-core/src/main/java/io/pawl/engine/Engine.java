package io.pawl.engine;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.SerialExecutor;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.concurrent.Workers;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the locks of one client share: the store, time, workers, the {@link Renewer}, the lines in
 * which this client's threads stand, and the claims that are alive. Everything comes from outside,
 * so that the same engine runs under a virtual clock.
 *
 * <p>Threads: callers, one timer (never blocked, never in the store's I/O), {@link Workers}, and
 * whatever the store calls back on.
 */
public final class Engine {

  private static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

  private static final long LONGEST_QUEUE_NANOS = 5_000_000_000L;
  private static final long LOOK_AGAIN_NANOS = 50_000_000;

  private static final Logger log = LoggerFactory.getLogger(Engine.class);

  private final LockStore store;
  private final PawlOptions options;
  private final GuardedObserver observer;
  private final GuardedObserver observerLater;
  private final Time time;
  private final Workers workers;
  private final RandomGenerator random;
  private final Renewer renewer = new Renewer(this);
  private final long patienceNanos;
  private final long graceNanos;
  private final String clientId;
  private final AtomicLong claims = new AtomicLong();
  private final ConcurrentHashMap<LineKey, Line> lines = new ConcurrentHashMap<>();
  private final AtomicLong strictLines = new AtomicLong();
  private final ConcurrentHashMap<ClaimId, LiveClaim> live = new ConcurrentHashMap<>();
  private final Set<OpenCall> openCalls = ConcurrentHashMap.newKeySet();
  private final Set<Retry<?>> retries = ConcurrentHashMap.newKeySet();
  private final ReentrantLock closing = new ReentrantLock();

  /** Whether a shared claim was ever made: spares others from looking for one. */
  private volatile boolean hasReaders;

  private volatile boolean closed;
  private volatile boolean abandoned;

  /** How many claims are held. */
  private final AtomicInteger held = new AtomicInteger();

  /** Once closed: completes when nothing is held. */
  private final CompletableFuture<Void> returned = new CompletableFuture<>();

  /** Once closed: completes when the store knows of all that was given back. */
  private final CompletableFuture<Void> emptied = new CompletableFuture<>();

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
    this.observer = new GuardedObserver(options.observer(), Runnable::run);
    this.observerLater =
        new GuardedObserver(
            options.observer(),
            new SerialExecutor(workers.callbacks(), "calls of a lock observer"));
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

  /** For threads of users'. */
  public GuardedObserver observer() {
    return observer;
  }

  /** For all others: calls the observer on the users' executor, in order. */
  public GuardedObserver observerLater() {
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
      if (mayBlock) {
        call.run();
      } else {
        run(call);
      }
    }
  }

  /** As {@link #call}, in one trip where the store can. */
  void callTogether(List<Runnable> calls, boolean mayBlock) {
    call(List.of(() -> store.together(() -> calls.forEach(Runnable::run))), mayBlock);
  }

  /**
   * Puts {@code waiter} into the line for its lock, a private one where order is strict.
   *
   * @return the calls to the store that this takes, if any
   */
  List<Runnable> enter(LineKey key, Waiter<?> waiter) {
    while (true) {
      if (closed) {
        throw closedException(key.name());
      }
      if (key.mode() instanceof Mode.Shared) {
        hasReaders = true;
      }
      Line line = lineFor(key);
      Effects effects = new Effects();
      if (line.enter(waiter, effects)) {
        if (closed) {
          line.close();
        }
        return effects.performLocally(this);
      }
    }
  }

  /** The line for {@code key}, a new one where order is strict. */
  Line lineFor(LineKey key) {
    LineKey own =
        key.options().passes()
            ? key
            : new LineKey(key.name(), key.options(), key.mode(), strictLines.incrementAndGet());
    return lines.computeIfAbsent(own, created -> new Line(this, created));
  }

  /**
   * Gives {@code line} a key of its own, for {@code mode}; whoever asks as those in it did gets a
   * new line.
   */
  LineKey setAside(LineKey key, Mode mode, Line line) {
    long number = key.number() == 0 ? strictLines.incrementAndGet() : key.number();
    LineKey own = new LineKey(key.name(), key.options(), mode, number);
    lines.put(own, line);
    lines.remove(key, line);
    return own;
  }

  /** This client has changed the capacity of a semaphore. */
  public void capacityIs(String semaphore, int capacity) {
    for (Line line : lines.values()) {
      if (line.key().name().equals(semaphore)) {
        line.capacityIs(capacity);
      }
    }
  }

  boolean hasSeveralLines() {
    return lines.size() > 1;
  }

  /** The line that asked for {@code id}, while it has not ended. */
  @Nullable Line lineOf(ClaimId id) {
    LiveClaim claim = live.get(id);
    return claim == null ? null : claim.line();
  }

  /**
   * Whether a writer of this client waits for the lock that its readers have, or the other way
   * round; among those that ask with the same options.
   */
  boolean otherSideWaits(LineKey key) {
    if (!hasReaders || key.mode() instanceof Mode.Permits) {
      return false;
    }
    Mode other = key.mode() instanceof Mode.Shared ? Mode.EXCLUSIVE : Mode.SHARED;
    Line line = lines.get(new LineKey(key.name(), key.options(), other));
    return line != null && line.isWanted();
  }

  public static IllegalStateException closedException(String lock) {
    return new IllegalStateException("lock '" + lock + "': the Pawl client is closed");
  }

  void retire(LineKey key, Line line) {
    lines.remove(key, line);
  }

  LiveClaim claim(LineKey key, Line line, boolean queues, int tokens, String thread) {
    LockOptions lock = key.options();
    ClaimId id = new ClaimId(clientId, claims.getAndIncrement());
    Holder holder =
        new Holder(ThisProcess.HOST, ThisProcess.PID, thread, options.application(), lock.note());
    Claim claim =
        new Claim(
            key.name(),
            id,
            key.mode(),
            lock.lease(),
            lock.minHold(),
            queues,
            tokens,
            0,
            false,
            holder);
    LiveClaim alive = new LiveClaim(this, line, claim, lock.renewal());
    live.put(id, alive);
    return alive;
  }

  void ended(LiveClaim claim) {
    live.remove(claim.claim().id());
    if (closed) {
      noteWhatIsLeft();
    }
  }

  void holdBegun() {
    held.incrementAndGet();
  }

  void holdEnded() {
    if (held.decrementAndGet() == 0 && closed) {
      noteWhatIsLeft();
    }
  }

  private void noteWhatIsLeft() {
    if (held.get() == 0) {
      returned.complete(null);
    }
    if (live.isEmpty()) {
      emptied.complete(null);
    }
  }

  /** A call to the store that is answered by the end of this client at the latest. */
  public interface OpenCall {

    /** For people. */
    String what();

    /**
     * The client is closing: what is under way may be answered, and is not repeated. The stage
     * completes when it has been.
     */
    CompletableFuture<Void> repeatNoMore();

    /** Nobody waits for an answer any more. */
    void giveUp();
  }

  public void begin(OpenCall call) {
    openCalls.add(call);
    if (closed) {
      openCalls.remove(call);
      throw new IllegalStateException(call.what() + ": the Pawl client is closed");
    }
  }

  public void ended(OpenCall call) {
    openCalls.remove(call);
  }

  /** {@code retry} is answered by the end of this client at the latest. */
  void begin(Retry<?> retry) {
    retries.add(retry);
    if (abandoned) {
      retry.giveUp();
    }
  }

  void ended(Retry<?> retry) {
    retries.remove(retry);
  }

  /** Waits until the store knows that something was given back, no longer than its patience. */
  public void awaitConfirmation(CompletableFuture<Void> confirmed, Supplier<String> what) {
    if (!confirmed.isDone() && !Uninterruptibly.await(confirmed, patienceNanos)) {
      log.warn("{}: giving it back goes on in the background", what.get());
    }
  }

  StoreUnavailableException silentStore() {
    return new StoreUnavailableException(store.describe() + " has not answered");
  }

  /** Whether it has ended for good: nothing is repeated any more. */
  boolean isAbandoned() {
    return abandoned;
  }

  public boolean isClosed() {
    return closed;
  }

  /** Nobody stands in line, nothing is held, and nothing is on its way to the store. */
  public boolean isIdle() {
    return lines.isEmpty() && live.isEmpty() && openCalls.isEmpty() && renewer.isIdle();
  }

  /**
   * Refuses new requests, turns waiters away, and asks holders to come to an end. The stage
   * completes when nothing is held any more.
   */
  public CompletableFuture<Void> beginClosing() {
    closed = true;
    lines.values().forEach(Line::close);
    openCalls.forEach(OpenCall::repeatNoMore);
    noteWhatIsLeft();
    return returned;
  }

  /**
   * What is still held is lost, and runs out at the store. The stage completes when the holders
   * know.
   */
  public CompletableFuture<Void> endHolds(String why) {
    return CompletableFuture.allOf(
        lines.values().stream()
            .map(line -> line.leaveToRunOut(why))
            .toArray(CompletableFuture[]::new));
  }

  /**
   * Once closed: completes when the store knows of all that was given back, and changes of counters
   * that were on their way have been answered.
   */
  public CompletableFuture<Void> answered() {
    List<CompletableFuture<Void>> ends = new ArrayList<>(List.of(emptied));
    openCalls.forEach(call -> ends.add(call.repeatNoMore()));
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }

  /** The end of closing: what was not given back by now runs out. */
  public void abandon() {
    abandoned = true;
    renewer.close();
    openCalls.forEach(OpenCall::giveUp);
    retries.forEach(Retry::giveUp);
    live.values().forEach(LiveClaim::abandon);
  }

  /**
   * Ends all that {@link #beginClosing} has left: waits for holders for {@code graceNanos} and then
   * for the store, for at most 5 s. Idempotent.
   */
  public void endClosing(long graceNanos) {
    closing.lock(); // a second call waits for the first
    try {
      if (abandoned) {
        return;
      }
      lines.values().forEach(Line::close); // one may have changed its key under the first pass
      if (!Uninterruptibly.await(returned, graceNanos)) {
        log.warn(
            "{} locks are held still at the end of the grace; they are left to run out. Close each"
                + " Lease, or lengthen PawlOptions.shutdownGrace",
            held.get());
      }
      String why = "the Pawl client was closed, and its grace is over";
      Uninterruptibly.await(endHolds(why), Event.LONGEST_WAIT_NANOS);
      if (!Uninterruptibly.await(answered(), CLOSE_PATIENCE.toNanos())) {
        log.warn("some claims were not given back within {} and will run out", CLOSE_PATIENCE);
      }
      abandon();
    } finally {
      closing.unlock();
    }
  }
}
