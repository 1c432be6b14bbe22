package io.pawl.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * The interface between the engine and the service that decides: three verbs on a claim. Holding
 * and waiting in the queue are one thing, so one verb ends either, and one verb keeps either alive.
 *
 * <p>The obligations of every store, which the TCK's {@code LockStoreContract} checks:
 *
 * <ul>
 *   <li>At any moment, by the store's own clock, the held claims of a lock are compatible by their
 *       {@link Mode}.
 *   <li>A claim that the store has not heard from for its lease is gone. A claim that it answered
 *       is kept for at least its lease from the moment at which the request was sent; one that
 *       waited before, for {@link Claim#keptWaitingMillis}.
 *   <li>A hold keeps the lock busy for its claim's {@link Claim#minHold} from its grant on, even if
 *       it is withdrawn or falls silent. For a hold that was granted from the queue this applies
 *       once the store has heard from it since: a waiter that died costs its lease.
 *   <li>Tokens of a lock only grow; see {@link Standing.Held}.
 *   <li>Every stage completes within the store's own stated timeout, after a failure with a {@link
 *       io.pawl.error.StoreException}. {@link io.pawl.error.StoreUnavailableException} means that
 *       the outcome is unknown and the same call may be repeated.
 * </ul>
 *
 * <p>Thread-safe. Requests of one client for one lock take effect in the order in which they were
 * made, unless one failed.
 */
public interface LockStore extends AutoCloseable {

  /**
   * Takes the lock, or a place in the queue. Repeating it is harmless: a claim that is held or
   * waiting is kept alive as by {@link #renew}, and the answer is its standing. After a {@link
   * #withdraw} of an {@linkplain Claim#unsettled unsettled} claim the answer to a late attempt is
   * {@link Standing.Gone}. The answer to a claim that the store does not know and whose mode is not
   * for the lock's {@link Kind} is {@link Standing.OtherKind}.
   *
   * <p>The attempt of an exclusive claim that is held, repeated with {@link Mode#SHARED}, is a
   * <em>downgrade</em>: the claim stays held, now shared, under the same tokens, and shared claims
   * at the head of the queue join it. There is no way back.
   *
   * @param bell rung when a waiting claim is granted
   */
  CompletionStage<Standing> attempt(Claim claim, Bell bell);

  /**
   * Keeps held claims alive for another lease each, and waiting ones for {@link
   * Claim#keptWaitingMillis} at least, and returns how each stands. One trip for up to {@link
   * #renewBatch} claims. A claim that fails alone is left out of the answer; the stage fails only
   * when nothing is known of any claim.
   */
  CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims);

  /**
   * Ends the hold or the wait. Idempotent and final; unknown claims are no error. A hold whose
   * {@link Claim#minHold} is not over keeps the lock busy until it is, and belongs to nobody: the
   * answer to a renewal or a late attempt of it is {@link Standing.Gone}.
   */
  CompletionStage<Void> withdraw(Claim claim);

  /**
   * Runs {@code calls}, which calls verbs for several claims and waits for none. The store may
   * carry these requests in one trip. Their stages may complete after this method returns. As with
   * a verb, the call may block if the store {@link #blocks}.
   */
  default void together(Runnable calls) {
    calls.run();
  }

  /**
   * Runs {@code call}, which calls verbs and whose thread waits for their answers anyway: so a
   * store that does not {@link #blocks() block} otherwise may do I/O of theirs on it. No lock of
   * the engine's is held.
   */
  default void awaited(Runnable call) {
    call.run();
  }

  /** Returns how many claims one {@link #renew} may carry. */
  default int renewBatch() {
    return 500;
  }

  /**
   * Returns the group of a claim: claims of one group stand or fall together. The engine renews
   * different groups in calls of their own, so that a silent part of the service delays only its
   * own claims.
   */
  default int renewGroup(Claim claim) {
    return 0;
  }

  /**
   * Returns how long an answer may take while nothing is wrong, 500 ms unless overridden. A wait
   * whose time is over goes on for so long until the store has answered, and then ends in a {@link
   * io.pawl.error.StoreUnavailableException}. Constant.
   */
  default Duration answerTime() {
    return Duration.ofMillis(500);
  }

  /**
   * Returns whether the service was seen to serve other requests within the last {@link
   * #answerTime}. If so, it has a queue and is not silent: a wait whose time is over then goes on
   * for an answer, for up to 5 s. Cheap, no round trip, any thread. False unless overridden.
   */
  default boolean servesOthers() {
    return false;
  }

  /**
   * Returns whether the verbs may do their I/O on the calling thread. The engine then calls them
   * from its workers, or from a thread that would wait for the answer anyway.
   */
  default boolean blocks() {
    return false;
  }

  /**
   * Returns whether an attempt that has taken effect never arrives a second time behind a later
   * {@link #withdraw}: so where requests of this client are decided one after another. A claim that
   * a grant names as its follower then needs no memory when it is withdrawn, though the answer to
   * its only attempt was not heard yet. False unless overridden.
   */
  default boolean attemptsArriveOnce() {
    return false;
  }

  /** Returns the store's address, for messages: never with a password. */
  String describe();

  /** Closes the store's own connections and threads. Claims that are still alive run out. */
  @Override
  void close();
}
