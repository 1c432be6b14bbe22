package io.pawl.spi;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * The one seam between the engine and a service that decides: three verbs on a claim. Holding and
 * standing in line are one thing, so that ending either is one verb and keeping either alive is
 * one.
 *
 * <p>What every store owes (the TCK's {@code LockStoreContract} checks it):
 *
 * <ul>
 *   <li>At any moment, by the store's own clock, the held claims of a lock are compatible by their
 *       {@link Mode}.
 *   <li>A claim that the store has not heard of for its lease is gone; one that it answered is kept
 *       at least its lease from the moment at which the request was sent.
 *   <li>A hold keeps the lock busy from its grant on for its claim's {@link Claim#minHold}, though
 *       it is withdrawn or falls silent. One that was granted from the line is owed that once the
 *       store has heard of it since: a waiter that died costs its lease.
 *   <li>Tokens of a lock only grow; see {@link Standing.Held}.
 *   <li>Every stage completes within the store's own stated timeout, with a {@link
 *       io.pawl.error.StoreException} where it failed. {@link
 *       io.pawl.error.StoreUnavailableException} means that the outcome is unknown and the same
 *       call may be repeated.
 * </ul>
 *
 * <p>Thread-safe. Requests of one client for one lock take effect in the order in which they were
 * made, unless one failed.
 */
public interface LockStore extends AutoCloseable {

  /**
   * Takes the lock, or a place in line. Repeating it is harmless: a claim that is held or waiting
   * is kept alive and its standing told. After a {@link #withdraw} of an {@linkplain
   * Claim#unsettled unsettled} claim a late attempt is answered {@link Standing.Gone}. A claim that
   * the store does not know and whose mode is not for the lock's {@link Kind} is answered {@link
   * Standing.OtherKind}.
   *
   * <p>The attempt of an exclusive claim that is held, repeated with {@link Mode#SHARED}, is a
   * <em>downgrade</em>: the claim holds on, shared, under the same tokens, and shared claims at the
   * head of the line join it. There is no way back.
   *
   * @param bell rung when a waiting claim is granted
   */
  CompletionStage<Standing> attempt(Claim claim, Bell bell);

  /**
   * Keeps claims alive for another lease each, held and waiting alike, and tells how each stands.
   * One trip for as many as {@link #renewBatch}. A claim that fails alone is left out of the
   * answer; the stage fails only when nothing is known of any.
   */
  CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims);

  /**
   * Ends the hold or the wait. Idempotent and final; unknown claims are no error. A hold whose
   * {@link Claim#minHold} is not over stands in the way until it is, and is nobody's: a renewal or
   * a late attempt of it is answered {@link Standing.Gone}.
   */
  CompletionStage<Void> withdraw(Claim claim);

  /**
   * Runs {@code calls}, which calls verbs for several claims and waits for none, and may carry what
   * they ask in one trip. Their stages may complete after this returns; the caller, like that of a
   * verb, may be kept while this {@link #blocks}.
   */
  default void together(Runnable calls) {
    calls.run();
  }

  /** How many claims one {@link #renew} may carry. */
  default int renewBatch() {
    return 500;
  }

  /**
   * Which claims stand or fall together: the engine renews those of different groups in calls of
   * their own, so that a part of the service that is silent delays only its own.
   */
  default int renewGroup(Claim claim) {
    return 0;
  }

  /**
   * How long an answer may take while nothing is wrong, 500 ms unless overridden: a wait that is
   * over goes on for so long until the store has answered, and then ends in a {@link
   * io.pawl.error.StoreUnavailableException}. Constant.
   */
  default Duration answerTime() {
    return Duration.ofMillis(500);
  }

  /**
   * Whether the service was seen at work for others within the last {@link #answerTime}: a wait
   * that is over then goes on for an answer, for up to 5 s, since a queue is not a silence. Cheap,
   * no round trip, any thread. False unless overridden.
   */
  default boolean servesOthers() {
    return false;
  }

  /**
   * Whether the verbs may do their I/O on the calling thread. The engine then calls them from its
   * workers, or from a thread that would wait for the answer anyway.
   */
  default boolean blocks() {
    return false;
  }

  /** Where claims go, for messages: never with a password. */
  String describe();

  /** Closes connections and threads of the store's own. Claims still alive run out. */
  @Override
  void close();
}
