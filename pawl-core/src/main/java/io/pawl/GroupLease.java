package io.pawl;

import io.pawl.engine.Engine;
import io.pawl.engine.GroupLoan;
import io.pawl.engine.Loan;
import io.pawl.error.LeaseLostException;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Several locks held together, each with a token of its own. The lease belongs to whoever has this
 * object, not to a thread. When one of the locks is lost, the whole lease counts as lost; the other
 * locks stay held until it is closed.
 *
 * <p>Thread-safe.
 */
public final class GroupLease implements AutoCloseable {

  private final GroupLoan loan;

  GroupLease(GroupLoan loan) {
    this.loan = loan;
    loan.loans().forEach(part -> part.isReachedBy(this));
  }

  /** Makes the lease that users get; if that fails, for lack of memory say, nothing stays held. */
  static GroupLease of(GroupLoan loan) {
    try {
      return new GroupLease(loan);
    } catch (Throwable e) {
      loan.drop();
      throw e;
    }
  }

  GroupLoan loan() {
    return loan;
  }

  /** Returns the fencing tokens by the names of the locks, in the order of names. */
  public Map<String, Long> tokens() {
    return loan.tokens();
  }

  /**
   * Returns the fencing token of one lock; see {@link Lease#token}.
   *
   * @throws IllegalArgumentException when the group has no lock of this name
   */
  public long token(String lock) {
    Long token = tokens().get(lock);
    if (token == null) {
      throw new IllegalArgumentException(
          "lock '" + lock + "' is not of this group; it has " + tokens().keySet());
    }
    return token;
  }

  /**
   * Returns whether all locks can be trusted now; see {@link Lease#isValid}. Asks the clock, never
   * the store. A call that finds a loss returns after the {@link #onLost} callbacks have run, and
   * waits for them for at most 1 s.
   */
  public boolean isValid() {
    return loan.isValid();
  }

  /**
   * Returns how long all locks stay valid if no renewal succeeds from now on; zero once the lease
   * has ended.
   */
  public Duration remaining() {
    return Duration.ofNanos(loan.loans().stream().mapToLong(Loan::remainingNanos).min().orElse(0));
  }

  /**
   * Returns if all locks are {@linkplain #isValid valid}, and throws otherwise.
   *
   * @throws LeaseLostException when one of the locks was lost; it names the first
   * @throws IllegalStateException when the lease was closed
   */
  public void ensureValid() {
    if (loan.isClosed()) {
      throw new IllegalStateException("lease of locks " + tokens().keySet() + " has been closed");
    }
    try {
      loan.loans().forEach(Loan::ensureTrusted);
    } catch (LeaseLostException e) {
      loan.loss().awaitTold();
      throw e;
    }
  }

  /**
   * Calls {@code callback} once when the first of the locks is lost (see {@link Lease#onLost});
   * soon if one is lost already; never after a close in time.
   */
  public void onLost(Runnable callback) {
    loan.loss().call(callback);
  }

  /** Calls {@code callback} once when the client begins to close; see {@link Lease#onClosing}. */
  public void onClosing(Runnable callback) {
    loan.closing().call(callback);
  }

  /**
   * Releases all locks at the same time, each even if another fails, and returns when the store has
   * confirmed it: one round trip where the store can. Idempotent: a second call waits for the same
   * confirmation. If the store cannot be reached, Pawl goes on trying in the background; this
   * method waits no longer than the client's patience, or, where the store blocks its caller
   * (JDBC), than the driver takes for one answer, whichever is longer.
   *
   * @throws LeaseLostException when a lock was lost before, with the losses of the others
   *     suppressed in it; thrown by the first call only, and never to an {@link #onLost} callback
   */
  @Override
  public void close() {
    Engine engine = loan.engine();
    long since = engine.time().nanos();
    GroupLoan.Ending ending = loan.end(true);
    engine.awaitConfirmation(ending.confirmed(), since, () -> "locks " + tokens().keySet());
    ending.throwIfLost();
  }

  /**
   * As {@link #close}, without waiting: the loss of a lock fails the future. The future completes
   * on the client's {@linkplain PawlOptions#executor executor}.
   */
  public CompletableFuture<Void> closeAsync() {
    return loan.engine().forUser(loan.end(false).told());
  }

  @Override
  public String toString() {
    return "GroupLease" + loan;
  }
}
