package io.pawl.engine;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.KeptInterrupts;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One request for a lock, standing in a {@link LocalQueue} of this client: a thread that parks, or
 * a future. It ends exactly once: with a loan, refused, failed, or by leaving the queue.
 *
 * @param <T> what its future is completed with
 */
final class Waiter<T> {

  private static final long UNBOUNDED_NANOS = Durations.LONGEST.toNanos() / 2;

  private static final Object REFUSED = new Object();

  private final Engine engine;
  private final String lock;
  private final boolean waits;
  private final Asker asker;
  private final @Nullable Thread thread;
  private final @Nullable CompletableFuture<T> future;
  private final Function<Optional<Loan>, T> result;
  private final Executor completions;
  private final boolean mayBlock;
  private final long enteredAt;

  /** Set once its time is over, while the store has yet to answer: told when that has. */
  private volatile boolean overdue;

  private volatile long deadline;

  private volatile Time.@Nullable Pending timer;

  /**
   * Once it has left the queue: the end of the claim that nobody needs any more. Set under the
   * queue's mutex.
   */
  private volatile @Nullable CompletableFuture<Void> left;

  /** Where it stands; set under the mutexes of the queue that it leaves and the one it enters. */
  private volatile @Nullable LocalQueue queue;

  /**
   * A {@link Loan}, {@link #REFUSED} or a {@link RuntimeException}; set under the queue's mutex.
   */
  private volatile @Nullable Object outcome;

  /** What the future gets for the loan. */
  private volatile @Nullable T made;

  /** Whether it was asked for anew after an answer that came too late; guarded as the outcome. */
  private boolean askedAnew;

  /** Whether it is not told of another's mistake; guarded by its queue's mutex. */
  private boolean goesOn;

  /** Whether the observer hears that it waits; set under the queue's mutex before the outcome. */
  private boolean began;

  /** Whether it was called and has not looked since; written under its queue's mutex. */
  private volatile boolean nudged;

  private Waiter(
      Engine engine,
      String lock,
      boolean waits,
      Asker asker,
      @Nullable CompletableFuture<T> future,
      Function<Optional<Loan>, T> result,
      Executor completions,
      boolean mayBlock) {
    this.engine = engine;
    this.lock = lock;
    this.waits = waits;
    this.future = future;
    this.result = result;
    this.completions = completions;
    this.mayBlock = mayBlock;
    this.thread = future == null ? Thread.currentThread() : null;
    this.asker = asker;
    this.enteredAt = engine.time().nanos();
  }

  /**
   * The current thread is going to {@link #await}.
   *
   * @param mayBlock whether it may call the store itself, however long that takes
   */
  static Waiter<Optional<Loan>> blocking(
      Engine engine, String lock, boolean waits, boolean mayBlock) {
    Asker here = Asker.here(engine, lock);
    return new Waiter<>(
        engine, lock, waits, here, null, Function.identity(), Runnable::run, mayBlock);
  }

  /**
   * {@code future} is completed by {@code completions}.
   *
   * @param asker who asked in the first place
   * @param result what it is completed with
   */
  static <T> Waiter<T> async(
      Engine engine,
      String lock,
      boolean waits,
      Asker asker,
      CompletableFuture<T> future,
      Function<Optional<Loan>, T> result,
      Executor completions) {
    return new Waiter<>(engine, lock, waits, asker, future, result, completions, false);
  }

  void isIn(LocalQueue place) {
    queue = place;
  }

  private LocalQueue queue() {
    return Objects.requireNonNull(queue);
  }

  /**
   * Takes it out of the queue, wherever that is; null where its outcome has been decided already.
   * The stage completes when the store knows of it, as far as it has to.
   */
  private @Nullable CompletableFuture<Void> leave() {
    while (true) {
      LocalQueue place = queue();
      CompletableFuture<Void> gone = place.leave(this);
      if (gone != null || place == queue) {
        return gone;
      }
    }
  }

  /** It has left the queue, which the store knows once {@code gone} completes. */
  void leaves(CompletableFuture<Void> gone) {
    left = gone;
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

  /** Whether its thread may call the store itself. */
  boolean mayBlock() {
    return mayBlock;
  }

  long enteredAt() {
    return enteredAt;
  }

  boolean isOverdue() {
    return overdue;
  }

  Asker asker() {
    return asker;
  }

  boolean isDone() {
    return outcome != null;
  }

  void grant(Loan loan) {
    outcome = loan;
  }

  void refuse() {
    outcome = REFUSED;
  }

  void fail(RuntimeException cause) {
    outcome = cause;
  }

  /** Whether an answer that came too late is worth another question: once. */
  boolean asksAnew() {
    boolean first = !askedAnew;
    askedAnew = true;
    return first;
  }

  /** The lock was what it asked for as it came, or no claim was made for it then. */
  void goOn() {
    goesOn = true;
  }

  boolean goesOn() {
    return goesOn;
  }

  /** Tells the waiter its outcome; called without locks held. */
  void wake() {
    if (thread != null) {
      if (thread != Thread.currentThread()) {
        LockSupport.unpark(thread);
      }
    } else if (Objects.requireNonNull(future).isDone() && outcome instanceof Loan unwanted) {
      tellEnd(engine.observerLater());
      unwanted.refuse(age()); // cancelled: users' threads need not hear of it
    } else {
      completions.execute(this::completeFuture);
    }
  }

  private void completeFuture() {
    CompletableFuture<T> promise = Objects.requireNonNull(future);
    Duration waited = age();
    Object decided = outcome;
    tellEnd(engine.observerLater());
    if (decided instanceof Loan loan) {
      if (promise.isDone()) {
        loan.refuse(waited);
        return;
      }
      T value;
      try {
        value = result.apply(Optional.of(loan));
      } catch (Throwable e) { // of memory: somebody waits for an answer
        promise.completeExceptionally(e);
        return;
      }
      made = value;
      loan.announce(waited, engine.observerLater()); // first: what is attached may work for long
      if (!promise.complete(value)) {
        loan.refuse(waited);
      }
      return;
    }
    engine.observerLater().notAcquired(lock, waited);
    if (decided instanceof RuntimeException cause) {
      promise.completeExceptionally(cause);
    } else {
      promise.complete(result.apply(Optional.empty()));
    }
  }

  /**
   * Calls the head of the queue to take the hold that lies free, unless a running thread is faster.
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
    LocalQueue place;
    do {
      place = queue();
      place.takeFreeHold(this);
    } while (place != queue);
  }

  /** It looks at what lies free: whatever comes to lie free later, it is called to anew. */
  void looks() {
    nudged = false;
  }

  /**
   * Waits for the outcome. Once the wait is over, the place in the queue is given back first: for
   * as long as a store may be silent.
   *
   * @param deadline on the engine's clock
   * @return the loan, or empty: refused, or timed out while the store was well
   * @throws InterruptedException after leaving the queue, and giving back a grant that raced
   */
  Optional<Loan> await(long deadline) throws InterruptedException {
    this.deadline = deadline;
    while (true) {
      if (outcome == null && !nudged && Thread.interrupted()) {
        CompletableFuture<Void> gone = leave();
        if (gone == null && outcome instanceof Loan raced) {
          awaitGone(raced.refuse(age()));
          tellEnd(engine.observer());
          throw new InterruptedException();
        }
        if (gone != null) {
          awaitGone(gone);
        }
        tellEnd(engine.observer());
        engine.observer().notAcquired(lock, age());
        throw new InterruptedException();
      }
      Optional<Loan> result = look();
      if (result != null) {
        return result;
      }
    }
  }

  /** As {@link #await}, keeping interrupts for later. */
  Optional<Loan> awaitUninterruptibly(long deadline) {
    this.deadline = deadline;
    try (KeptInterrupts kept = new KeptInterrupts()) {
      while (true) {
        kept.clear();
        Optional<Loan> result = look();
        if (result != null) {
          return result;
        }
      }
    }
  }

  /** One step of a wait; null where it has not ended. */
  private @Nullable Optional<Loan> look() {
    Object decided = outcome;
    if (decided != null) {
      return unwrapped(decided);
    }
    if (nudged) {
      lookAgain();
      return null;
    }
    Look look = lookAtTheStore();
    if (outcome != null || nudged) {
      return null; // a lock taken for the look may have used up the wake-up
    }
    long left = look.nanosLeft;
    if (left > UNBOUNDED_NANOS) {
      LockSupport.park(this);
      return null;
    }
    if (left > 0) {
      LockSupport.parkNanos(this, left);
      return null;
    }
    StoreException trouble = troubleOf(look);
    CompletableFuture<Void> gone = leave();
    if (gone == null) {
      return null;
    }
    if (trouble == null) {
      awaitGone(gone);
    }
    tellEnd(engine.observer());
    engine.observer().notAcquired(lock, age());
    if (trouble != null) {
      throw stillFailing(trouble);
    }
    return Optional.empty();
  }

  /**
   * For as long as a store may be silent from now on, or from the end of the wait if it is over.
   */
  private void awaitGone(CompletableFuture<Void> gone) {
    long over = Math.max(0, engine.time().nanos() - deadline);
    Uninterruptibly.await(gone, engine.graceNanos() - over);
  }

  /** An asynchronous waiter has one timer: for its deadline, then for the end of the grace. */
  void watch(long deadline) {
    this.deadline = deadline;
    arm(lookAtTheStore().nanosLeft);
  }

  private void arm(long nanos) {
    Time.Pending armed = engine.time().after(nanos, this::timeOut);
    timer = armed;
    if (Objects.requireNonNull(future).isDone()) {
      armed.cancel();
    }
  }

  private void timeOut() {
    long more = endIfOver();
    if (more > 0) {
      arm(more);
    }
  }

  /** The store has answered: a wait whose time has come need not go on. */
  void lookAtTheTime() {
    if (thread != null) {
      LockSupport.unpark(thread);
    } else {
      endIfOver();
    }
  }

  /** How long to wait before looking again; 0 where its outcome is decided. */
  private long endIfOver() {
    if (outcome != null || left != null) {
      return 0;
    }
    Look look = lookAtTheStore();
    if (look.nanosLeft > 0) {
      return look.nanosLeft;
    }
    StoreException trouble = troubleOf(look);
    if (leave() != null) {
      if (trouble == null) {
        refuse();
      } else {
        fail(stillFailing(trouble));
      }
      wake();
    }
    return 0;
  }

  /**
   * The future has been completed: by this, or by its user, who then wants no other grant.
   *
   * @param delivered what it was completed with
   */
  void abandonUnlessFor(@Nullable T delivered) {
    Time.Pending armed = timer;
    if (armed != null) {
      armed.cancel();
    }
    if (leave() != null) {
      tellEnd(engine.observerLater());
      engine.observerLater().notAcquired(lock, age());
    } else if (outcome instanceof Loan loan && (delivered == null || delivered != made)) {
      loan.refuse(age());
    }
  }

  /** After the future was cancelled: when nothing of it is left at the store. */
  CompletableFuture<Void> gone() {
    CompletableFuture<Void> end = left;
    if (end != null) {
      return end;
    }
    return outcome instanceof Loan raced && Objects.requireNonNull(future).isCancelled()
        ? raced.refuse(age())
        : CompletableFuture.completedFuture(null);
  }

  private Optional<Loan> unwrapped(Object decided) {
    if (decided instanceof Loan loan) {
      try {
        tellEnd(engine.observer());
        loan.announce(age(), engine.observer());
        return Optional.of(loan);
      } catch (Throwable e) { // of memory: nobody else could give it back
        loan.drop();
        throw e;
      }
    }
    tellEnd(engine.observer());
    engine.observer().notAcquired(lock, age());
    if (decided instanceof RuntimeException cause) {
      throw cause;
    }
    return Optional.empty();
  }

  static StoreException stillFailing(StoreException cause) {
    return new StoreUnavailableException(
        "the wait ended without an answer: " + cause.getMessage(), cause);
  }

  /**
   * Whether the wait has ended, and how: from one look at the store's reply, since after another
   * one the claim under way may be one that was made just now.
   *
   * @param nanosLeft how long to wait before looking again, 0 where the wait has ended
   */
  private record Look(long nanosLeft, LocalQueue.@Nullable Reply reply) {}

  /**
   * The wait has ended at the deadline, or up to {@link LockStore#answerTime} later while the store
   * has yet to answer. A wait shorter than a round trip thus ends in "busy" or a lease, as a wait
   * of zero does, and only a store that keeps silent ends it in an exception. Who hears of the
   * answer looks sooner.
   */
  private Look lookAtTheStore() {
    long left = deadline - engine.time().nanos();
    if (left > 0) {
      return new Look(left, null);
    }
    overdue = true; // before the question: whoever hears the answer after it looks at this
    LocalQueue place = queue();
    place.noteOverdue();
    LocalQueue.Reply reply = place.reply();
    long grace = Math.max(0, left + engine.graceNanos());
    if (waits) {
      long silent = reply.silentNanos();
      if (silent == 0) {
        return new Look(0, reply);
      }
      grace = Math.min(grace, Math.max(0, engine.graceNanos() - silent));
    }
    return new Look(grace > 0 ? grace : engine.queueingNanos(-left), reply);
  }

  /** What is wrong with the store; who asks once and has no answer by then has met a silent one. */
  private @Nullable StoreException troubleOf(Look ended) {
    LocalQueue.Reply reply = Objects.requireNonNull(ended.reply);
    boolean silent = reply.silentNanos() > 0 || !waits;
    return reply.failure() == null && silent ? engine.silentStore() : reply.failure();
  }

  /** How long it has waited; zero where no observer is told. */
  private Duration age() {
    return engine.isObserved()
        ? Duration.ofNanos(engine.time().nanos() - enteredAt)
        : Duration.ZERO;
  }
}
