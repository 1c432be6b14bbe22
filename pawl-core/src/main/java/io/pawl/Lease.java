package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.engine.Loan;
import io.pawl.engine.Retry;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StoreException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * A held lock, valid until a deadline that renewal keeps moving. The lease belongs to whoever has
 * this object, not to a thread.
 *
 * <p>A lease can be lost while the work goes on: after a pause of the process, a network partition
 * or an eviction another client may hold the lock. Then {@link #isValid} is false and {@link
 * #onLost} has been called. Neither can stop a write that is already under way. A resource that
 * refuses tokens smaller than the largest it has seen can, so send {@link #token} with every write.
 *
 * <p><b>Keep the object for as long as you want the lock.</b> If the garbage collector takes a
 * lease that was never closed and has no callback of yours, the next renewal notices: a warning
 * names the lock, and the lease runs out.
 *
 * <p><b>Callbacks</b> run on the client's {@linkplain PawlOptions#executor executor}, one after
 * another unless they are added after the event. Pawl holds none of its own locks meanwhile, so
 * they may block, wait for threads that use this lease, call any method of Pawl, and close the
 * client. Exceptions that they throw are logged.
 *
 * <p>Thread-safe.
 */
public final class Lease implements AutoCloseable {

  private final Loan loan;

  Lease(Loan loan) {
    this.loan = loan;
    loan.isReachedBy(this);
  }

  /** Makes the lease that users get; if that fails, for lack of memory say, nothing stays held. */
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

  /** Returns the lock's name. */
  public String lock() {
    return loan.lock();
  }

  /**
   * Returns the fencing token, 1 to 2<sup>53</sup> − 1: unique for this lock and larger than the
   * token of every earlier lease. Still available after the lease has ended.
   */
  public long token() {
    return loan.token();
  }

  /**
   * Returns whether others may hold leases like this one at the same time: true for a reader's
   * lease.
   */
  public boolean isShared() {
    return mode() instanceof Mode.Shared;
  }

  /** Returns how many permits of a semaphore this lease holds; 0 for a lock. */
  public int permits() {
    return mode() instanceof Mode.Permits some ? some.wanted() : 0;
  }

  Mode mode() {
    return loan.mode();
  }

  /**
   * Turns this writer's lease into a reader's without a gap: no other writer gets in between, and
   * waiting readers are let in. The token and the {@link #onLost} callbacks stay. One round trip;
   * not interruptible. There is no way back: a reader that wants to write has to close its lease
   * first.
   *
   * @throws IllegalStateException when this is not a writer's lease and no downgrade has failed, or
   *     was closed
   * @throws LeaseLostException when the lease was lost
   * @throws StoreException when the store failed, or has not answered, for the client's patience
   *     and its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a
   *     JDBC driver if that takes longer: the lease is valid until its deadline, and whether it is
   *     shared is unknown; the call may be repeated
   */
  public void downgrade() {
    Retry.await(loan.engine(), lock(), loan.downgrade(true));
  }

  /**
   * As {@link #downgrade}, without waiting, not even for the {@link #onLost} callbacks of a loss: a
   * later failure fails the future.
   */
  public CompletableFuture<Void> downgradeAsync() {
    return loan.engine().forUser(loan.downgrade(false));
  }

  /**
   * Renews the lease now, so that it is valid for its whole length again, and goes on renewing it
   * until it is valid for at least {@code length} from now. This is for a lease {@linkplain
   * LockOptions#renewal without renewal} that turns out to be too short. It never shortens a lease.
   * The store still keeps only one length of the lease after each renewal, so that others wait no
   * longer for a holder that died. A lease that is renewed anyway is renewed now, which helps
   * before a stretch of work in which this process may stand still. One round trip; not
   * interruptible.
   *
   * @param length longer than 0; more than 100 years count as 100 years
   * @throws IllegalArgumentException for zero or a negative length
   * @throws IllegalStateException when the lease was closed
   * @throws LeaseLostException when the lease was lost, including a loss that this call discovers
   * @throws StoreException when the store failed, or has not answered, for the client's patience
   *     and its {@linkplain io.pawl.spi.LockStore#answerTime answer time}, or for one answer of a
   *     JDBC driver if that takes longer: the lease is valid until its deadline, and renewal goes
   *     on; the call may be repeated
   */
  public void extend(Duration length) {
    Retry.await(loan.engine(), lock(), loan.extend(length, true));
  }

  /**
   * As {@link #extend}, without waiting, not even for the {@link #onLost} callbacks of a loss: a
   * later failure fails the future.
   */
  public CompletableFuture<Void> extendAsync(Duration length) {
    return loan.engine().forUser(loan.extend(length, false));
  }

  /**
   * Returns whether the lease can be trusted now: not closed, not lost, and before its local
   * deadline. Asks the clock, never the store. A call that finds the lease lost returns after the
   * {@link #onLost} callbacks have run. It waits for them for at most 1 s, and only until they have
   * begun if the calling thread is interrupted.
   */
  public boolean isValid() {
    return loan.isValid();
  }

  /**
   * Returns how long the lease stays valid if no renewal succeeds from now on; zero once it has
   * ended.
   */
  public Duration remaining() {
    return Duration.ofNanos(loan.remainingNanos());
  }

  /**
   * Returns if the lease is {@linkplain #isValid valid}, and throws otherwise.
   *
   * @throws LeaseLostException when the lease was lost
   * @throws IllegalStateException when the lease was closed
   */
  public void ensureValid() {
    loan.ensureValid();
  }

  /**
   * Calls {@code callback} once when the lease is lost: no later than its local deadline while this
   * process runs, and before the first {@link #isValid} returns after a pause; soon if the lease is
   * lost already; never after a close in time.
   */
  public void onLost(Runnable callback) {
    loan.loss().call(callback);
  }

  /**
   * Calls {@code callback} once when the client begins to {@linkplain Pawl#close(Duration) close}
   * while the lease is held. The holder should then finish and close the lease, which stays valid
   * for the client's grace. An ordinary shutdown is no loss: {@link #onLost} is called only if the
   * lease is still held when the grace is over.
   */
  public void onClosing(Runnable callback) {
    loan.closing().call(callback);
  }

  /**
   * Releases the lock and returns when the store has confirmed it: one round trip, none if a thread
   * of this client takes over. Idempotent: a second call waits for the same confirmation. If the
   * store cannot be reached, Pawl goes on trying in the background until the claim has run out
   * there; this method waits no longer than the client's patience, or, where the store blocks its
   * caller (JDBC, etcd), than the client takes for one answer, whichever is longer. With {@link
   * LockOptions#releaseInBackground} it does not wait for the store.
   *
   * @throws LeaseLostException when the lease was lost before; thrown by the first call only, and
   *     never to an {@link #onLost} callback
   */
  @Override
  public void close() {
    Engine engine = loan.engine();
    if (loan.isGivenBackLate()) {
      if (loan.end()) {
        loan.giveBackLate(engine.observer());
      }
      return;
    }
    long since = engine.time().nanos();
    CompletableFuture<Void> confirmed =
        loan.end(since) ? loan.giveBack(true, engine.observer()) : loan.ended();
    engine.awaitConfirmation(confirmed, since, () -> "lock '" + lock() + "'");
  }

  /**
   * As {@link #close}, without waiting: the loss of the lease fails the future. The future
   * completes on the client's {@linkplain PawlOptions#executor executor}.
   */
  public CompletableFuture<Void> closeAsync() {
    return closeAsync(loan.engine().observer());
  }

  /**
   * As {@link #closeAsync()}.
   *
   * @param observer told of the release
   */
  CompletableFuture<Void> closeAsync(LockObserver observer) {
    try {
      return loan.engine().forUser(loan.end() ? loan.giveBack(false, observer) : loan.ended());
    } catch (LeaseLostException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public String toString() {
    return "Lease[" + loan + "]";
  }
}
