package io.pawl;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One request for a lock, standing in a {@link Line} of this client: a thread that parks, or a
 * future. It ends exactly once: with a lease, refused, failed, or by leaving the line.
 */
final class Waiter {

  /** How long a store may be silent before a wait that is over ends in an exception: 500 ms. */
  static final long GRACE_NANOS = 500_000_000;

  private static final long GRACE_STEP_NANOS = 1_000_000;

  private static final Object REFUSED = new Object();

  private final Engine engine;
  private final String lock;
  private final boolean waits;
  private final String threadName;
  private final @Nullable Thread thread;
  private final @Nullable CompletableFuture<Optional<Lease>> future;
  private final Executor completions;
  private final long enteredAt;

  /** Where it stands; set under the mutexes of the line that it leaves and the one it enters. */
  private volatile @Nullable Line line;

  /**
   * A {@link Lease}, {@link #REFUSED} or a {@link RuntimeException}; set under the line's mutex.
   */
  private volatile @Nullable Object outcome;

  /** Whether the observer hears that it waits; set under the line's mutex before the outcome. */
  private boolean began;

  /** Set by {@link #nudge}, cleared by the waiter when it looks. */
  private volatile boolean nudged;

  private Waiter(
      Engine engine,
      String lock,
      boolean waits,
      String threadName,
      @Nullable CompletableFuture<Optional<Lease>> future,
      Executor completions) {
    this.engine = engine;
    this.lock = lock;
    this.waits = waits;
    this.future = future;
    this.completions = completions;
    this.thread = future == null ? Thread.currentThread() : null;
    this.threadName = threadName;
    this.enteredAt = engine.time().nanos();
  }

  /** The current thread is going to {@link #await}. */
  static Waiter blocking(Engine engine, String lock, boolean waits) {
    return new Waiter(engine, lock, waits, Thread.currentThread().getName(), null, Runnable::run);
  }

  /**
   * {@code future} is completed by {@code completions}.
   *
   * @param threadName of the thread that asked in the first place
   */
  static Waiter async(
      Engine engine,
      String lock,
      boolean waits,
      String threadName,
      CompletableFuture<Optional<Lease>> future,
      Executor completions) {
    return new Waiter(engine, lock, waits, threadName, future, completions);
  }

  void standsIn(Line place) {
    line = place;
  }

  private Line line() {
    return Objects.requireNonNull(line);
  }

  /** Takes it out of line, wherever that is; false where its outcome has been decided already. */
  private boolean leave() {
    while (true) {
      Line place = line();
      if (place.leave(this)) {
        return true;
      }
      if (place == line) {
        return false;
      }
    }
  }

  boolean waits() {
    return waits;
  }

  /** Somebody is in its way. Answers whether the observer has to be told. */
  boolean beginWaiting() {
    boolean first = waits && !began;
    began = waits;
    return first;
  }

  void tellWaiting(boolean behindOwn) {
    engine.observerLater().waiting(lock, behindOwn);
  }

  private void tellEnd(LockObserver observer) {
    if (began) {
      observer.waitingEnded(lock, age());
    }
  }

  boolean isAsync() {
    return future != null;
  }

  String threadName() {
    return threadName;
  }

  boolean isDone() {
    return outcome != null;
  }

  void grant(Lease lease) {
    outcome = lease;
  }

  void refuse() {
    outcome = REFUSED;
  }

  void fail(RuntimeException cause) {
    outcome = cause;
  }

  /** Tells the waiter its outcome; called without locks held. */
  void wake() {
    if (thread != null) {
      if (thread != Thread.currentThread()) {
        LockSupport.unpark(thread);
      }
    } else if (Objects.requireNonNull(future).isDone() && outcome instanceof Lease unwanted) {
      tellEnd(engine.observerLater());
      unwanted.loan().drop(); // cancelled: users' threads need not hear of it
    } else {
      completions.execute(this::completeFuture);
    }
  }

  private void completeFuture() {
    CompletableFuture<Optional<Lease>> promise = Objects.requireNonNull(future);
    Duration waited = age();
    Object result = outcome;
    tellEnd(engine.observerLater());
    if (result instanceof Lease lease) {
      if (promise.complete(Optional.of(lease))) {
        lease.loan().announce(waited, engine.observerLater());
      } else {
        lease.loan().drop();
      }
      return;
    }
    engine.observerLater().notAcquired(lock, waited);
    if (result instanceof RuntimeException cause) {
      promise.completeExceptionally(cause);
    } else {
      promise.complete(Optional.empty());
    }
  }

  /**
   * Calls the head of the line to take the hold that lies free, unless a running thread is faster.
   * Answers whether it had not been called already.
   */
  boolean markNudged() {
    boolean first = !nudged;
    nudged = true;
    return first;
  }

  void nudge() {
    if (thread != null) {
      LockSupport.unpark(thread);
    } else {
      engine.workers().stores().execute(this::lookAgain);
    }
  }

  private void lookAgain() {
    nudged = false;
    line().takeFreeHold(this);
  }

  /**
   * Waits for the outcome.
   *
   * @param deadline on the engine's clock; a waiter that does not wait ignores it
   * @return the lease, or empty: refused, or timed out while the store was well
   * @throws InterruptedException after leaving the line, and giving back a grant that raced
   */
  Optional<Lease> await(long deadline) throws InterruptedException {
    while (true) {
      Object result = outcome;
      if (result != null) {
        return unwrapped(result);
      }
      if (nudged) {
        lookAgain();
      } else if (waits && Thread.interrupted()) {
        if (!leave() && outcome instanceof Lease raced) {
          raced.loan().drop();
        }
        tellEnd(engine.observer());
        engine.observer().notAcquired(lock, age());
        throw new InterruptedException();
      } else if (waits && isOver(deadline)) {
        StoreException trouble = line().trouble();
        if (leave()) {
          return timedOut(trouble);
        }
      } else {
        park(deadline);
      }
    }
  }

  /** As {@link #await} without a deadline, and keeping interrupts for later. */
  Optional<Lease> awaitUninterruptibly() {
    boolean interrupted = false;
    try {
      while (true) {
        Object result = outcome;
        if (result != null) {
          return unwrapped(result);
        }
        interrupted |= Thread.interrupted();
        if (nudged) {
          lookAgain();
        } else {
          LockSupport.park(this);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** An asynchronous waiter's time is over, unless the store deserves some more. */
  void timeOut(long deadline) {
    if (!isOver(deadline)) {
      engine.time().after(GRACE_STEP_NANOS, () -> timeOut(deadline));
      return;
    }
    StoreException trouble = line().trouble();
    if (!leave()) {
      return;
    }
    if (trouble == null) {
      refuse();
    } else {
      fail(stillFailing(trouble));
    }
    wake();
  }

  /**
   * The future has been completed: by this, or by its user, who then wants no other grant.
   *
   * @param delivered what it was completed with
   */
  void abandonUnlessFor(@Nullable Optional<Lease> delivered) {
    if (leave()) {
      tellEnd(engine.observerLater());
      engine.observerLater().notAcquired(lock, age());
    } else if (outcome instanceof Lease lease
        && (delivered == null || delivered.orElse(null) != lease)) {
      lease.loan().drop();
    }
  }

  private Optional<Lease> unwrapped(Object result) {
    tellEnd(engine.observer());
    if (result instanceof Lease lease) {
      lease.loan().announce(age(), engine.observer());
      return Optional.of(lease);
    }
    engine.observer().notAcquired(lock, age());
    if (result instanceof RuntimeException cause) {
      throw cause;
    }
    return Optional.empty();
  }

  private Optional<Lease> timedOut(@Nullable StoreException trouble) {
    tellEnd(engine.observer());
    engine.observer().notAcquired(lock, age());
    if (trouble != null) {
      throw stillFailing(trouble);
    }
    return Optional.empty();
  }

  static StoreException stillFailing(StoreException cause) {
    return new StoreUnavailableException(
        "the wait ended without an answer: " + cause.getMessage(), cause);
  }

  /**
   * Whether the wait has ended: at the deadline, or up to 500 ms later while the store has yet to
   * answer. A wait shorter than a round trip thus ends in "busy" or a lease, as a wait of zero
   * does, and only a store that keeps silent ends it in an exception.
   */
  private boolean isOver(long deadline) {
    long late = engine.time().nanos() - deadline;
    if (late < 0) {
      return false;
    }
    long silent = line().silentNanos();
    return silent == 0 || silent >= GRACE_NANOS || late >= GRACE_NANOS;
  }

  private void park(long deadline) {
    if (waits) {
      long left = deadline - engine.time().nanos();
      LockSupport.parkNanos(this, left > 0 ? left : GRACE_STEP_NANOS);
    } else {
      LockSupport.park(this);
    }
  }

  private Duration age() {
    return Duration.ofNanos(engine.time().nanos() - enteredAt);
  }
}
