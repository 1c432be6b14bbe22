package io.pawl;

import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock held, until a deadline that renewal keeps moving. It belongs to whoever has this object,
 * not to a thread.
 *
 * <p>A lease can be lost while the work goes on: after a pause of the process, a cut network, or an
 * eviction another may hold the lock. Then {@link #isValid} is false and {@link #onLost} has been
 * called. Neither can stop a write that is already under way; a resource that refuses tokens
 * smaller than the largest it has seen can, so pass {@link #token} along with every write.
 *
 * <p>Thread-safe.
 */
public final class Lease implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Lease.class);

  private enum State {
    HELD,
    RELEASED,
    LOST
  }

  private final Engine engine;
  private final Line line;
  private final Hold hold;
  private final LiveClaim claim;
  private final long token;
  private final boolean passed;
  private final long grantedAt;

  /** Held while callbacks run: whoever finds the lease lost waits until they have run. */
  private final ReentrantLock mutex = new ReentrantLock();

  private volatile State state = State.HELD;
  private String whyLost = "";
  private boolean closed;
  private List<Runnable> callbacks = List.of();

  Lease(Engine engine, Line line, Hold hold, long token, boolean passed) {
    this.engine = engine;
    this.line = line;
    this.hold = hold;
    this.claim = hold.claim();
    this.token = token;
    this.passed = passed;
    this.grantedAt = engine.time().nanos();
  }

  /** The lock's name. */
  public String lock() {
    return line.key().name();
  }

  /**
   * The fencing token, 1 to 2<sup>53</sup> − 1: unique for this lock and larger than that of every
   * earlier lease. Known also after the lease has ended.
   */
  public long token() {
    return token;
  }

  /** Whether others may hold leases like this one beside it: true of readers' leases. */
  public boolean isShared() {
    return mode() instanceof Mode.Shared;
  }

  /** How many permits of a semaphore it holds; 0 for a lock. */
  public int permits() {
    return mode() instanceof Mode.Permits some ? some.wanted() : 0;
  }

  Mode mode() {
    return claim.claim().mode();
  }

  /**
   * Makes this writer's lease a reader's, without a gap: from before to after it no other writer
   * gets in, and readers who wait do. The token stays, and so do the {@link #onLost} callbacks. One
   * round trip; not interruptible. There is no way back: a reader that wants to write has to close
   * its lease first.
   *
   * @throws IllegalStateException when this is not a writer's lease, or was closed
   * @throws LeaseLostException when the lease was lost
   * @throws StoreException when the store failed for longer than the client's patience: the lease
   *     is valid still, and whether it is shared is not known; the call may be repeated
   */
  public void downgrade() {
    Retry.await(engine, lock(), downgrade(true));
  }

  /** As {@link #downgrade}, without waiting: what it throws later fails the future. */
  public CompletableFuture<Void> downgradeAsync() {
    return downgrade(false).copy();
  }

  private CompletableFuture<Void> downgrade(boolean mayBlock) {
    if (!(mode() instanceof Mode.Exclusive)) {
      throw new IllegalStateException(
          "lock '" + lock() + "': a lease that is not a writer's cannot be downgraded");
    }
    ensureValid();
    line.drain(hold);
    return Retry.start(engine, lock(), claim::downgrade, mayBlock)
        .thenAccept(
            held -> {
              if (!held) {
                ensureValid();
              }
            });
  }

  /**
   * Whether the lease can be trusted now: not closed, not lost, and before its local deadline. Asks
   * the clock, never the store. The first call that finds the lease lost returns after the {@link
   * #onLost} callbacks have run.
   */
  public boolean isValid() {
    State now = state;
    if (now == State.HELD) {
      if (claim.isValid(engine.time().nanos())) {
        return true;
      }
      loseByDeadline();
    } else if (now == State.LOST) {
      mutex.lock();
      mutex.unlock();
    }
    return false;
  }

  /** How long the lease stays valid if no renewal succeeds from now on; zero when it has ended. */
  public Duration remaining() {
    return state == State.HELD
        ? Duration.ofNanos(claim.remainingNanos(engine.time().nanos()))
        : Duration.ZERO;
  }

  /**
   * Returns while {@link #isValid}.
   *
   * @throws LeaseLostException when the lease was lost
   * @throws IllegalStateException when it was closed
   */
  public void ensureValid() {
    if (isValid()) {
      return;
    }
    if (state == State.RELEASED) {
      throw new IllegalStateException("lease of lock '" + lock() + "' has been closed");
    }
    throw lostException();
  }

  /**
   * Calls {@code callback} once when the lease is lost: no later than its local deadline while this
   * process runs, and before the first {@link #isValid} answers after a pause; at once if it is
   * lost already; never after a close in time. Callbacks run one after another on a worker of
   * Pawl's, or on the thread that found the loss; they should be short, since {@code isValid} waits
   * for them. What they throw is logged.
   */
  public void onLost(Runnable callback) {
    mutex.lock();
    try {
      if (state == State.HELD) {
        List<Runnable> more = new ArrayList<>(callbacks);
        more.add(callback);
        callbacks = more;
      } else if (state == State.LOST) {
        callback.run();
      }
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Gives the lock back and returns when the store has confirmed it: one round trip, none if a
   * thread of this client takes over. Idempotent. A store that cannot be reached is tried again in
   * the background until the claim has run out there; this method waits for it no longer than the
   * client's patience.
   *
   * @throws LeaseLostException when the lease was lost before; thrown by the first call only
   */
  @Override
  public void close() {
    engine.awaitConfirmation(finish(Runnable::run), () -> "lock '" + lock() + "'");
  }

  /** As {@link #close}, without waiting: a lease that was lost fails the future. */
  public CompletableFuture<Void> closeAsync() {
    try {
      return finish(engine::run).copy();
    } catch (LeaseLostException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Closes without waiting and without complaint: nobody has worked under this lease. */
  void giveBack() {
    unused();
    closeAsync();
  }

  /** Nobody has worked under this lease, and nobody will: no shortest hold is owed for it. */
  void unused() {
    claim.use(false);
  }

  /**
   * Ends the lease.
   *
   * @param ends runs what tells the store, if that has to be told
   * @throws LeaseLostException when it was lost before; thrown by the first call only
   */
  CompletableFuture<Void> finish(Executor ends) {
    mutex.lock();
    try {
      if (closed) {
        return CompletableFuture.completedFuture(null);
      }
      closed = true;
      if (!isValid()) {
        throw lostException();
      }
      state = State.RELEASED;
    } finally {
      mutex.unlock();
    }
    Duration held = Duration.ofNanos(engine.time().nanos() - grantedAt);
    engine.observer().released(lock(), token, held);
    return line.release(this, hold, ends);
  }

  /** Tells the observer who got it, once it is sure that somebody takes it. */
  void announce(Duration waited) {
    engine.observer().acquired(lock(), token, waited, passed);
  }

  private void loseByDeadline() {
    String why = claim.whyLost();
    lose(why);
    claim.lose(why);
  }

  /** Counts as lost from now on, and ends at the store when it runs out there, not before. */
  void leaveToRunOut(String why) {
    lose(why);
    claim.leaveToRunOut(why);
  }

  /** Tells the holder, unless the lease has ended. */
  void lose(String why) {
    mutex.lock();
    try {
      if (state != State.HELD) {
        return;
      }
      whyLost = why;
      state = State.LOST;
      engine.observer().lost(lock(), token, why);
      callbacks.forEach(this::runGuarded);
      callbacks = List.of();
    } finally {
      mutex.unlock();
    }
  }

  private void runGuarded(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException | Error e) {
      log.error("an onLost callback of lock '{}' failed", lock(), e);
    }
  }

  private LeaseLostException lostException() {
    mutex.lock();
    try {
      return new LeaseLostException(lock(), token, whyLost);
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public String toString() {
    return "Lease[lock=" + lock() + ", token=" + token + ", " + state + "]";
  }
}
