package io.pawl.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * A store that can be one of the nodes of a quorum. Beside what every store owes, it promises two
 * things.
 *
 * <ul>
 *   <li><b>It grants larger tokens on request.</b> An attempt of a claim that is held, repeated
 *       with a {@link Claim#tokenFloor} that is not smaller than the first token of the hold, gives
 *       the hold other tokens above that floor, as a new grant would. The hold goes on meanwhile.
 *   <li><b>It votes with its memory.</b> After {@link #joinQuorum} an attempt is answered with
 *       {@link Standing.Held} only by a server that has forgotten no grant of the last {@code
 *       longestLease}. Another server refuses all attempts with an {@linkplain
 *       io.pawl.error.StoreUnavailableException#isUnsent unsent} failure. A grant that a bell or a
 *       renewal tells of is no vote: the attempt has to be repeated.
 * </ul>
 */
public interface QuorumNode extends LockStore {

  /**
   * The server behind a store.
   *
   * @param server which one, and since which start: another text where something may have been
   *     forgotten; without passwords
   * @param votesIn how long it still refuses to vote; zero if it votes
   */
  record Incarnation(String server, Duration votesIn) {}

  /**
   * Makes this store object a quorum's, before its first attempt.
   *
   * @param longestLease how long any claim at this node may last, the same for all clients
   * @throws IllegalArgumentException if the store cannot be a node, with the reason
   */
  void joinQuorum(Duration longestLease);

  /** Returns who answers at the moment. One round trip at most. After {@link #joinQuorum}. */
  CompletionStage<Incarnation> incarnation();

  /**
   * Declares that the server never granted anything that is still held, so that it votes from now
   * on: for the first start of a new quorum. After {@link #joinQuorum}.
   */
  CompletionStage<Void> trust();
}
