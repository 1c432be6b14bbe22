package io.pawl.quorum;

import io.pawl.quorum.NodeClaim.Status;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import java.util.List;

/**
 * The node at which a claim stands in line. Nodes are gone through in an order that the lock's name
 * gives, the same for all clients, and the first one that answers promptly is taken. Guarded by the
 * mutex of its {@link QuorumClaim}.
 */
final class Seat {

  private final NodeClaim[] at;
  private final List<Node> nodes;
  private final int first;
  private final long promptNanos;
  private final long patienceNanos;
  private final boolean shares;
  private final boolean queues;
  private int place;
  private int moves;

  /** What the node had when the rest was joined. */
  private NodeClaim begunWith;

  /**
   * @param promptNanos how long it is waited for
   * @param patienceNanos how long a majority is waited for
   */
  Seat(Claim claim, NodeClaim[] at, List<Node> nodes, long promptNanos, long patienceNanos) {
    this.at = at;
    this.nodes = nodes;
    this.promptNanos = promptNanos;
    this.patienceNanos = patienceNanos;
    this.shares = claim.mode() instanceof Mode.Shared;
    this.queues = claim.queues();
    this.first = Math.floorMod(claim.lock().hashCode(), at.length);
    this.place = first;
    this.begunWith = at[first];
    if (!nodes.get(first).mayBePrompt(promptNanos)) {
      move(0, 0, false);
    }
  }

  NodeClaim node() {
    return at[place];
  }

  boolean is(int node) {
    return node == place;
  }

  /** Whether it is the first in the order: at most one claim that holds it excludes others. */
  boolean isFirst() {
    return place == first;
  }

  /** Whether those before it in the order are away. */
  boolean isFirstLeft(long now) {
    for (int i = first; i != place; i = (i + 1) % at.length) {
      if (at[i].otherKind == null && !at[i].isAway(patienceNanos, now)) {
        return false;
      }
    }
    return true;
  }

  boolean isHeld() {
    return node().status == Status.HELD;
  }

  boolean isWaiting() {
    return node().status == Status.WAITING;
  }

  /** Somebody else has it: it has answered, and the claim has nothing there. */
  boolean isTaken() {
    return node().status == Status.NONE && node().hasAnswered();
  }

  /** It cannot be had at all: it has failed, or the name is of another kind there. */
  boolean hasRefused() {
    return !isHeld() && refuses(node());
  }

  private static boolean refuses(NodeClaim node) {
    return node.hasFailed() || node.otherKind != null;
  }

  boolean isSilent(long now) {
    return node().isSilentFor(promptNanos, now);
  }

  /**
   * Not only as late as others: it has refused, or takes several times what a majority takes. Where
   * others suffice, nobody else is let in meanwhile, and its answer alone is missing.
   */
  private boolean isAway(long now, long usualNanos, boolean othersSuffice) {
    long late =
        othersSuffice
            ? Math.min(Math.max(patienceNanos / 2, 2 * usualNanos), patienceNanos - enoughNanos())
            : Math.max(usualNanos == 0 ? patienceNanos : 5 * promptNanos, 4 * usualNanos);
    return hasRefused() || node().owesFor(late, now);
  }

  /** Before a question's time is over: to look at it, and to answer it. */
  private long enoughNanos() {
    return Math.max(patienceNanos / 8, 2 * Questions.PERIOD_NANOS);
  }

  /**
   * Whether all nodes are to be asked, and not only this one. A claim that shares the lock asks the
   * others afterwards: they would grant it beside other readers, though a writer waits here.
   */
  boolean asksAll(boolean busy) {
    return isHeld() || !(shares || isWaiting() || busy);
  }

  /**
   * Whether others are to be asked before it is left: who does not queue and left it for one that
   * has not answered either would be refused there by those who stayed.
   */
  boolean isComparedFirst() {
    return shares && !queues;
  }

  /** Whether the claim holds it since just now. */
  boolean begins() {
    boolean begins = begunWith != node();
    begunWith = node();
    return begins;
  }

  /** The engine asks anew: every node may be gone to once more. */
  void mayMoveAgain() {
    moves = 0;
  }

  /**
   * To the first node that is prompt; where none is, and this one is away, to the one behind it, or
   * where others suffice, to the next of these. Returns false where it stays.
   *
   * @param usualNanos how long a majority takes, lately; 0 if unknown
   * @param othersSuffice whether a majority holds the claim without it
   */
  boolean move(long now, long usualNanos, boolean othersSuffice) {
    int to = next(now, usualNanos, othersSuffice);
    if (to == place || moves >= at.length) {
      return false;
    }
    place = to;
    moves++;
    return true;
  }

  /**
   * To the first node that is prompt by now, or where none is, the first that has answered, where
   * others stand in line: those of two lines, who only went back to the end of their own, would
   * each keep a node from the other line's.
   */
  void chooseAnew() {
    for (int i = 0; i < at.length; i++) {
      int next = (first + i) % at.length;
      if (mayBe(next)) {
        place = next;
        return;
      }
    }
    for (int next = first; next != place; next = (next + 1) % at.length) {
      if (at[next].hasAnswered() && !refuses(at[next])) {
        place = next;
        return;
      }
    }
  }

  private int next(long now, long usualNanos, boolean othersSuffice) {
    for (int i = 0; i < at.length; i++) {
      int next = (first + i) % at.length;
      long late = isComparedFirst() ? 0 : promptNanos;
      boolean asLate = at[next].isSilentFor(late, now); // maybe it is this process that is
      if (next != place && mayBe(next) && !asLate) {
        return next;
      }
    }
    if (!isAway(now, usualNanos, othersSuffice)) {
      return place;
    }
    int behind = (place + 1) % at.length;
    while (othersSuffice && at[behind].status != Status.HELD) {
      behind = (behind + 1) % at.length;
    }
    return behind;
  }

  private boolean mayBe(int node) {
    return nodes.get(node).isPrompt(promptNanos) && !refuses(at[node]);
  }
}
