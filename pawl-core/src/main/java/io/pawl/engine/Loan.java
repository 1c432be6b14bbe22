package io.pawl.engine;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Futures;
import io.pawl.concurrent.KeptInterrupts;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockObserver;
import io.pawl.spi.Mode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine's side of a user's lease: one lending of a {@link Hold}. The engine keeps the loan,
 * and the user alone keeps the lease, so that a lease that nobody can reach any more is found out.
 *
 * <p>Held, and from then on either released or lost. No lock is needed for that, and none is held
 * while anybody is told.
 */
public final class Loan {

  private static final Logger log = LoggerFactory.getLogger(Loan.class);

  private static final Object HELD = "held";
  private static final Object RELEASED = "released";

  private static final VarHandle STATE = field("state", Object.class);
  private static final VarHandle LOSS = field("loss", Event.class);
  private static final VarHandle CLOSING = field("closing", Event.class);
  private static final VarHandle THROWN = field("thrown", boolean.class);
  private static final VarHandle ENDED = field("ended", CompletableFuture.class);

  private record Lost(String why) {}

  private final Engine engine;
  private final LocalQueue queue;
  private final Hold hold;
  private final LiveClaim claim;
  private final long token;
  private final boolean passed;
  private final long grantedAt;

  /** Null where nobody listens. */
  private final @Nullable Hearing hearing;

  private volatile @Nullable WeakReference<Object> handle;

  private volatile Object state = HELD;
  private volatile @Nullable Event loss;
  private volatile @Nullable Event closing;

  /** What {@code close()} waits for: set by the first that asks or knows. */
  private volatile @Nullable CompletableFuture<Void> ended;

  /** A downgrade has failed, and may have been answered since. */
  private volatile boolean downgradeFailed;

  /** Whether a close has thrown the loss. */
  @SuppressWarnings("UnusedVariable") // by its handle
  private volatile boolean thrown;

  Loan(Engine engine, LocalQueue queue, Hold hold, long token, boolean passed) {
    this.engine = engine;
    this.queue = queue;
    this.hold = hold;
    this.claim = hold.claim();
    this.token = token;
    this.passed = passed;
    this.hearing = engine.isObserved() ? new Hearing() : null;
    this.grantedAt = hearing != null ? engine.time().nanos() : 0;
  }

  private static VarHandle field(String name, Class<?> type) {
    try {
      return MethodHandles.lookup().findVarHandle(Loan.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * The user has it by {@code object} alone: once nobody can reach that, it is forgotten, and is
   * left to run out.
   */
  public void isReachedBy(Object object) {
    handle = new WeakReference<>(object);
  }

  public Engine engine() {
    return engine;
  }

  LiveClaim claim() {
    return claim;
  }

  public String lock() {
    return queue.key().name();
  }

  public long token() {
    return token;
  }

  public Mode mode() {
    return claim.claim().mode();
  }

  boolean isHeld() {
    return state == HELD;
  }

  public boolean isReleased() {
    return state == RELEASED;
  }

  /** As {@link #isValid}, though the callbacks of a loss may still be running. */
  public boolean isTrusted() {
    return isTrusted(engine.time().nanos());
  }

  private boolean isTrusted(long now) {
    if (state != HELD) {
      return false;
    }
    if (claim.isValid(now)) {
      return true;
    }
    try (KeptInterrupts kept = new KeptInterrupts()) { // else its locks may hide one for a moment
      String why = claim.whyLost();
      STATE.compareAndSet(this, HELD, new Lost(why));
      claim.lose(why); // which tells all loans of the hold, this one too
    }
    return false;
  }

  public boolean isValid() {
    if (isTrusted()) {
      return true;
    }
    if (state instanceof Lost) {
      loss().awaitTold();
    }
    return false;
  }

  public long remainingNanos() {
    return state == HELD ? claim.remainingNanos(engine.time().nanos()) : 0;
  }

  /** Until it is lost, and may be another's soon after, unless a renewal is answered. */
  public long nanosUntilLoss() {
    return state == HELD ? claim.nanosUntilLoss(engine.time().nanos()) : 0;
  }

  public Event loss() {
    Event known = loss;
    if (known == null) {
      LOSS.compareAndSet(this, null, event("was lost"));
      known = loss;
    }
    return Objects.requireNonNull(known);
  }

  public Event closing() {
    Event known = closing;
    if (known == null) {
      CLOSING.compareAndSet(this, null, event("has to be given back: the client is closing"));
      known = closing;
    }
    return Objects.requireNonNull(known);
  }

  private Event event(String what) {
    String name = "lease of lock '" + lock() + "' with token " + token + " " + what;
    return new Event(name, engine.workers().callbacks());
  }

  /** Tells the holder, unless the lease has ended; the stage completes when all were told. */
  CompletableFuture<Void> lose(String why) {
    boolean first = STATE.compareAndSet(this, HELD, new Lost(why));
    if (!first && !(state instanceof Lost)) {
      return CompletableFuture.completedFuture(null);
    }
    Hearing observed = hearing;
    return loss()
        .happen(
            observed == null
                ? null
                : () -> observed.loss(() -> engine.observerLater().lost(lock(), token, why)));
  }

  /** The client is closing: the holder is asked to come to an end. */
  void tellClosing() {
    if (state == HELD) {
      closing().happen(null);
    }
  }

  /** That it was lost, and why. */
  public LeaseLostException lostException() {
    String why = state instanceof Lost lost ? lost.why : "it has ended";
    return new LeaseLostException(lock(), token, why);
  }

  /**
   * Ends the lease, of which the store hears by {@link #giveBack}.
   *
   * @return false where it has ended before
   * @throws LeaseLostException when it was lost before; thrown to the first caller only, other than
   *     callbacks of that loss
   */
  public boolean end() {
    return end(engine.time().nanos());
  }

  /** As {@link #end()}, by a time that was read just now. */
  public boolean end(long now) {
    if (isTrusted(now) && STATE.compareAndSet(this, HELD, RELEASED)) {
      return true;
    }
    LeaseLostException untold = untoldLoss();
    if (untold != null) {
      throw untold;
    }
    return false;
  }

  /** What {@link #end} has to throw yet: its loss, to the first who asks, other than callbacks. */
  @Nullable LeaseLostException untoldLoss() {
    return state instanceof Lost && !loss().isToldHere() && THROWN.compareAndSet(this, false, true)
        ? lostException()
        : null;
  }

  /**
   * Gives the hold back, or passes it on; the stage completes when the store knows.
   *
   * @param mayBlock whether the calling thread would wait for the store anyway
   * @param observer told of the release
   */
  public CompletableFuture<Void> giveBack(boolean mayBlock, LockObserver observer) {
    long heldNanos = heldNanos();
    CompletableFuture<Void> confirmed = queue.release(this, hold).perform(engine, mayBlock);
    return released(confirmed, heldNanos, observer);
  }

  /** Whether its user's close does not wait for the store. */
  public boolean isGivenBackLate() {
    return queue.key().options().backgroundRelease();
  }

  /** As {@link #giveBack}, without waiting: what this client asks for next comes after it. */
  public void giveBackLate(LockObserver observer) {
    long heldNanos = heldNanos();
    Effects effects = queue.release(this, hold);
    engine.callLate(lock(), effects.performLocally(engine));
    released(effects.ended(), heldNanos, observer);
  }

  /** As {@link #giveBack}, where the caller runs what calls the store, added to {@code calls}. */
  CompletableFuture<Void> giveBackWith(List<Runnable> calls, LockObserver observer) {
    long heldNanos = heldNanos();
    Effects effects = queue.release(this, hold);
    calls.addAll(effects.performLocally(engine));
    return released(effects.ended(), heldNanos, observer);
  }

  /** 0 where no observer is told. */
  private long heldNanos() {
    return hearing != null ? engine.time().nanos() - grantedAt : 0;
  }

  private CompletableFuture<Void> released(
      CompletableFuture<Void> confirmed, long heldNanos, LockObserver observer) {
    if (!ENDED.compareAndSet(this, null, confirmed)) {
      Futures.follow(ended(), confirmed);
    }
    if (observer != LockObserver.NONE) { // it may block: nobody waits for the lock meanwhile
      observer.released(lock(), token, Duration.ofNanos(heldNanos));
    }
    return confirmed;
  }

  /** The end of a lease that another call has begun to give back. */
  public CompletableFuture<Void> ended() {
    if (state instanceof Lost) {
      return CompletableFuture.completedFuture(null);
    }
    ENDED.compareAndSet(this, null, new CompletableFuture<Void>());
    return Objects.requireNonNull(ended);
  }

  /**
   * Ends it without complaint: nobody has worked under it. The stage completes when the store
   * knows.
   */
  public CompletableFuture<Void> drop() {
    use(false);
    try {
      return end() ? giveBack(false, engine.observerLater()) : ended();
    } catch (LeaseLostException e) {
      log.debug("a lease that nobody has worked under was lost", e);
      return CompletableFuture.completedFuture(null);
    }
  }

  /**
   * As {@link #drop}, of a grant that nobody has heard of: the observer is told of a request that
   * ended without the lock.
   *
   * @param waited since the request
   */
  CompletableFuture<Void> refuse(Duration waited) {
    use(false);
    try {
      if (!end()) {
        return ended();
      }
      boolean unheard = tellRefused(waited);
      return giveBack(false, unheard ? LockObserver.NONE : engine.observerLater());
    } catch (LeaseLostException e) {
      log.debug("a lease that nobody has heard of was lost", e);
      tellRefused(waited);
      return CompletableFuture.completedFuture(null);
    }
  }

  /** False where the observer has heard of the grant, and so hears of its end. */
  private boolean tellRefused(Duration waited) {
    boolean unheard = hearing == null || hearing.refuse();
    if (unheard) {
      engine.observerLater().notAcquired(lock(), waited);
    }
    return unheard;
  }

  /** Whether somebody works under it: if nobody does, no shortest hold is owed for it. */
  void use(boolean inUse) {
    claim.use(inUse);
  }

  /** Tells the observer that somebody got it, unless it was refused. */
  void announce(Duration waited, LockObserver observer) {
    if (hearing != null) {
      hearing.grant(() -> observer.acquired(lock(), token, waited, passed));
    }
  }

  /** Makes a writer's lease a reader's, once more where it is not known whether that was done. */
  public CompletableFuture<Void> downgrade(boolean mayBlock) {
    if (!(mode() instanceof Mode.Exclusive)) {
      if (downgradeFailed) {
        ensureHeld(mayBlock);
        return CompletableFuture.completedFuture(null);
      }
      throw new IllegalStateException(
          "lock '" + lock() + "': a lease that is not a writer's cannot be downgraded");
    }
    ensureHeld(mayBlock);
    if (!queue.drain(this, hold)) {
      throw ended(state);
    }
    return Retry.bounded(engine, lock(), claim::downgrade, mayBlock)
        .whenComplete((held, error) -> downgradeFailed |= error != null || !held)
        .thenAccept(
            held -> {
              if (!held) {
                ensureTrusted();
              }
            });
  }

  /** Renews it now, and until it has been held for {@code length} more. */
  public CompletableFuture<Void> extend(Duration length, boolean mayBlock) {
    if (length.isNegative() || length.isZero()) {
      throw new IllegalArgumentException("extension: " + length + " is not longer than 0");
    }
    ensureHeld(mayBlock);
    long until = engine.time().nanos() + Durations.nanos(length);
    return Retry.bounded(engine, lock(), () -> claim.extend(until), mayBlock)
        .thenAccept(held -> ensureTrusted());
  }

  public void ensureValid() {
    if (!isValid()) {
      throw ended(state);
    }
  }

  /** As {@link #ensureValid}, though the callbacks of a loss may still be running. */
  public void ensureTrusted() {
    if (!isTrusted()) {
      throw ended(state);
    }
  }

  /** Whoever may not block hears of a loss though its callbacks may still be running. */
  private void ensureHeld(boolean mayBlock) {
    if (mayBlock) {
      ensureValid();
    } else {
      ensureTrusted();
    }
  }

  private RuntimeException ended(Object how) {
    return how == RELEASED
        ? new IllegalStateException("lease of lock '" + lock() + "' has been closed")
        : lostException();
  }

  /** Nobody can close it, ask it, or hear of its loss any more. */
  boolean isForgotten() {
    WeakReference<Object> known = handle;
    return state == HELD
        && known != null
        && known.refersTo(null)
        && !isAwaited(loss)
        && !isAwaited(closing);
  }

  private static boolean isAwaited(@Nullable Event event) {
    return event != null && event.isAwaited();
  }

  @Override
  public String toString() {
    return "lock=" + lock() + ", token=" + token + ", " + state;
  }
}
