package io.pawl.quorum;

import io.pawl.quorum.NodeClaim.Status;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Brings the nodes that hold a claim to grant it the same tokens: those that have not voted, or
 * under different ones, are attempted again, above a floor that is larger than all. The floor only
 * rises. Guarded by the mutex of the {@link QuorumClaim}.
 */
final class Agreement {

  private final Claim claim;
  private final NodeClaim[] at;
  private final QuorumLocks locks;
  private final Ballot ballot;
  private final Rounds rounds;
  private long floor;
  private int disagreements;

  Agreement(Claim claim, NodeClaim[] at, QuorumLocks locks, Ballot ballot, Rounds rounds) {
    this.claim = claim;
    this.at = at;
    this.locks = locks;
    this.ballot = ballot;
    this.rounds = rounds;
    this.floor = Math.max(claim.tokenFloor(), locks.tokens().floor());
  }

  /** What a node is to stay above that is asked for the first time. */
  long floor() {
    return floor;
  }

  /**
   * The seat is held, and others are asked now: above what they can all grant. So is the seat,
   * where its own tokens are not.
   */
  void begin(NodeClaim seat, long from, Mode mode, List<Runnable> effects) {
    floor = Math.max(floor, locks.tokens().beside(seat.firstToken()));
    if (!Ballot.isElected(seat, from, floor)) {
      askAgain(seat, mode, floor, effects);
    }
  }

  /**
   * A majority holds the claim. Returns the tokens for which a majority has voted; null as long as
   * there are none, and then asks for them.
   *
   * @param coveredFrom only nodes that keep the claim from then on, and for a quarter of its lease
   */
  Standing.@Nullable Held reached(long coveredFrom, Mode mode, List<Runnable> effects) {
    long old = locks.now() - claim.lease().toNanos() / 4 * 3;
    long from = coveredFrom - old >= 0 ? coveredFrom : old;
    Standing.Held agreed = ballot.agreed(from);
    if (agreed != null) {
      return agreed;
    }
    long late = locks.lateNanos(claim);
    long now = locks.now();
    boolean alike = ballot.isAlike(from, late, now);
    boolean disagree = !alike && !ballot.mayAgree(from, floor, late, now);
    if (disagree && ballot.canBeRaised(late, now)) { // else they would chase each other's tokens
      long largest = ballot.largestToken(locks.tokens(), now);
      floor = Math.max(floor, locks.tokens().above(largest, disagreements++));
    }
    for (NodeClaim each : at) {
      boolean lacks = !(alike ? Ballot.votes(each, from) : Ballot.isElected(each, from, floor));
      if (each.status == Status.HELD && lacks) {
        askAgain(each, mode, alike ? each.claim.tokenFloor() : floor, effects);
      }
    }
    return null;
  }

  /** The claim is granted: a node that holds it under smaller tokens is asked for larger ones. */
  void keep(Standing.Held granted, Mode mode, List<Runnable> effects) {
    for (NodeClaim each : at) {
      if (each.status == Status.HELD && !Ballot.counts(each, granted)) {
        askAgain(each, mode, granted.lastToken(), effects);
      }
    }
  }

  /**
   * A question is open about a claim that is granted: a node that holds it, and has not said so to
   * a request as late as the question, is asked. Two attempts may reach it in either order, so that
   * the later one is told to wait and the earlier one is let in.
   */
  void confirm(long from, Mode mode, List<Runnable> effects) {
    for (NodeClaim each : at) {
      boolean silent = each.isUnderWay() || each.hasFailed();
      if (each.status == Status.HELD && !silent && !each.isHeldSince(from)) {
        askAgain(each, mode, each.claim.tokenFloor(), effects);
      }
    }
  }

  private void askAgain(NodeClaim node, Mode mode, long above, List<Runnable> effects) {
    if (!node.isAttemptUnderWay() && node.mayRaise()) {
      rounds.attempt(node, mode, above, effects);
    }
  }
}
