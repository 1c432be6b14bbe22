package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.engine.Loan;
import io.pawl.engine.Retry;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A lock held, until a deadline that renewal keeps moving. It belongs to whoever has this object,
 * not to a thread.
 *
 * <p>A lease can be lost while the work goes on: after a pause of the process, a cut network, or an
 * eviction another may hold the lock. Then {@link #isValid} is false and {@link #onLost} has been
 * called. Neither can stop a write that is already under way; a resource that refuses tokens
 * smaller than the largest it has seen can, so pass {@link #token} along with every write.
 *
 * <p><b>Keep the object for as long as you want the lock.</b> A lease that the garbage collector
 * has taken, closed by nobody and with no callback of yours, is found out at its next renewal: a
 * warning names it, and it runs out.
 *
 * <p><b>Callbacks</b> run on the client's {@linkplain PawlOptions#executor executor}, one after
 * another unless they are added after the event, with no lock of Pawl's held: they may block, wait
 * for threads that use this lease, call any method of Pawl, and close the client. What they throw
 * is logged.
 *
 * <p>Thread-safe.
 */
public final class Lease implements AutoCloseable {

  private final Loan loan;

  Lease(Loan loan) {
    this.loan = loan;
    loan.isReachedBy(this);
  }

  /** As users get it; where it cannot be made, say for lack of memory, nothing stays held. */
  static Lease of(Loan loan) {
    try {
      return new Lease(loan);
    } catch (Throwable e) {
      loan.drop();
      throw e;
    }
  }

  Loan loan() {
    return loan;
  }

  /** The lock's name. */
  public String lock() {
    return loan.lock();
  }

  /**
   * The fencing token, 1 to 2<sup>53</sup> − 1: unique for this lock and larger than that of every
   * earlier lease. Known also after the lease has ended.
   */
  public long token() {
    return loan.token();
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
    return loan.mode();
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
    Retry.await(loan.engine(), lock(), loan.downgrade(true));
  }

  /** As {@link #downgrade}, without waiting: what it throws later fails the future. */
  public CompletableFuture<Void> downgradeAsync() {
    return loan.engine().forUser(loan.downgrade(false));
  }

  /**
   * Renews the lease now, so that it is valid for its whole length again, and goes on until it is
   * valid for {@code length} from now at least: for a lease {@linkplain LockOptions#renewal without
   * renewal} that turns out to be too short. It is never shortened. What the store keeps is one
   * length of the lease after each renewal, as ever, so that others wait no longer for a holder
   * that died. One that is renewed anyway is renewed now, which is of use before a stretch of work
   * in which this process may stand still. One round trip; not interruptible.
   *
   * @param length longer than 0; more than 100 years are taken as 100 years
   * @throws IllegalArgumentException for any other length
   * @throws IllegalStateException when the lease was closed
   * @throws LeaseLostException when the lease was lost, also where that is found out by this
   * @throws StoreException when the store failed for longer than the client's patience: the lease
   *     is valid until its deadline, and renewing it goes on; the call may be repeated
   */
  public void extend(Duration length) {
    Retry.await(loan.engine(), lock(), loan.extend(length, true));
  }

  /** As {@link #extend}, without waiting: what it throws later fails the future. */
  public CompletableFuture<Void> extendAsync(Duration length) {
    return loan.engine().forUser(loan.extend(length, false));
  }

  /**
   * Whether the lease can be trusted now: not closed, not lost, and before its local deadline. Asks
   * the clock, never the store. A call that finds the lease lost returns after the {@link #onLost}
   * callbacks have run; it waits for them for at most 1 s, and only until they have begun where the
   * calling thread is interrupted.
   */
  public boolean isValid() {
    return loan.isValid();
  }

  /** How long the lease stays valid if no renewal succeeds from now on; zero when it has ended. */
  public Duration remaining() {
    return Duration.ofNanos(loan.remainingNanos());
  }

  /**
   * Returns while {@link #isValid}.
   *
   * @throws LeaseLostException when the lease was lost
   * @throws IllegalStateException when it was closed
   */
  public void ensureValid() {
    loan.ensureValid();
  }

  /**
   * Calls {@code callback} once when the lease is lost: no later than its local deadline while this
   * process runs, and before the first {@link #isValid} answers after a pause; soon if it is lost
   * already; never after a close in time.
   */
  public void onLost(Runnable callback) {
    loan.loss().call(callback);
  }

  /**
   * Calls {@code callback} once when the client begins to {@linkplain Pawl#close(Duration) close}
   * while the lease is held: time to come to an end and to close the lease, which stays valid for
   * the client's grace. An ordinary shutdown is no loss: {@link #onLost} is called only if the
   * lease is still held when the grace is over.
   */
  public void onClosing(Runnable callback) {
    loan.closing().call(callback);
  }

  /**
   * Gives the lock back and returns when the store has confirmed it: one round trip, none if a
   * thread of this client takes over. Idempotent: a second call waits for the same confirmation. A
   * store that cannot be reached is tried again in the background until the claim has run out
   * there; this method waits for it no longer than the client's patience.
   *
   * @throws LeaseLostException when the lease was lost before; thrown by the first call only, and
   *     never to an {@link #onLost} callback
   */
  @Override
  public void close() {
    CompletableFuture<Void> confirmed =
        loan.end() ? loan.giveBack(true, loan.engine().observer()) : loan.ended();
    loan.engine().awaitConfirmation(confirmed, () -> "lock '" + lock() + "'");
  }

  /**
   * As {@link #close}, without waiting: a lease that was lost fails the future. The future
   * completes on the client's {@linkplain PawlOptions#executor executor}.
   */
  public CompletableFuture<Void> closeAsync() {
    Engine engine = loan.engine();
    try {
      return engine.forUser(loan.end() ? loan.giveBack(false, engine.observer()) : loan.ended());
    } catch (LeaseLostException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + loan + "]";
  }
}
