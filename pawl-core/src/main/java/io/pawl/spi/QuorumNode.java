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
 *       longestLease}, and no token; or that was {@linkplain #raise raised} above all that it may
 *       have forgotten. Another server refuses all attempts with an {@linkplain
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
   * @param votesIn how long it still refuses to vote, since holds that it forgot may last; zero if
   *     they have run out
   * @param since another number whenever {@code raised} has become false
   * @param raised whether it remembers its tokens, or was raised; else it does not vote
   * @param highest as large as any token that it has granted, as far as it remembers
   */
  record Incarnation(String server, Duration votesIn, long since, boolean raised, long highest) {}

  /** The store of which a majority of such nodes decides. */
  interface Quorum extends LockStore {

    /**
     * Declares that no node has ever granted anything that is still held, so that all vote from now
     * on: once, before the first client of a new quorum. One trip to each node; blocks.
     *
     * @throws io.pawl.error.StoreUnavailableException if a node could not be told; repeat it
     */
    void initialize();
  }

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
   * Lets a server vote that has forgotten its tokens: those that it grants from now on are larger
   * than {@code above}. Does nothing where it is {@code known} no more. Few round trips. After
   * {@link #joinQuorum}.
   */
  CompletionStage<Void> raise(Incarnation known, long above);

  /**
   * Declares that the server never granted anything that is still held, so that it votes from now
   * on: for the first start of a new quorum. After {@link #joinQuorum}.
   */
  CompletionStage<Void> trust();
}
