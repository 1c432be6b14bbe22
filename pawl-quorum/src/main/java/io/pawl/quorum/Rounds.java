package io.pawl.quorum;

import io.pawl.quorum.NodeClaim.Status;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What a claim sends to the nodes, each time under the id of a round. Called under the claim's
 * mutex; the sending itself is left to the effects, which run after it was let go.
 */
final class Rounds {

  private final Claim claim;
  private final NodeClaim[] at;
  private final QuorumLocks locks;
  private final List<Node> nodes;
  private final QuorumClaim owner;
  private int count;

  Rounds(Claim claim, NodeClaim[] at, QuorumLocks locks, List<Node> nodes, QuorumClaim owner) {
    this.claim = claim;
    this.at = at;
    this.locks = locks;
    this.nodes = nodes;
    this.owner = owner;
  }

  /** A new round at a node, behind whatever else waits there. */
  void join(
      int node, Mode mode, long above, boolean queues, Duration minHold, List<Runnable> effects) {
    NodeClaim before = at[node];
    giveBack(before, effects);
    Claim fresh =
        new Claim(
            claim.lock(),
            QuorumLocks.nodeId(claim.id(), count++),
            mode,
            claim.lease(),
            minHold,
            queues,
            claim.tokens(),
            above,
            false,
            claim.holder());
    NodeClaim joining = new NodeClaim(node, fresh);
    at[node] = joining;
    attempt(joining, mode, above, effects);
  }

  /** The first attempt of a round, or another: for an answer, a vote, or larger tokens. */
  void attempt(NodeClaim known, Mode mode, long above, List<Runnable> effects) {
    long sentAt = locks.now();
    known.sent(true, sentAt);
    known.asksAbove(above);
    Claim first = known.claim;
    Claim asked =
        new Claim(
            first.lock(),
            first.id(),
            mode,
            first.lease(),
            first.minHold(),
            first.queues(),
            first.tokens(),
            above,
            false,
            first.holder());
    effects.add(
        () ->
            nodes
                .get(known.node)
                .attempt(asked, standing -> owner.rang(known, standing))
                .whenComplete(
                    (standing, error) -> owner.answered(known, standing, error, sentAt, true)));
  }

  /** Gives back what nodes have of it, all but one. */
  void giveBackBut(@Nullable NodeClaim kept, List<Runnable> effects) {
    for (NodeClaim each : at) {
      boolean has = each.status == Status.HELD || each.status == Status.WAITING;
      if (each != kept && has) {
        locks.yielded();
        giveBack(each, effects);
      }
    }
  }

  /** Ends what a node may have of it; the next round there begins anew. */
  void giveBack(NodeClaim each, List<Runnable> effects) {
    if (!each.isNothing()) {
      withdraw(each, Duration.ZERO, claim.unsettled(), effects);
      at[each.node] = NodeClaim.unasked(each.node, claim);
    }
  }

  /** Ends it at its node; nothing that the node says of it counts any more. */
  CompletableFuture<Void> withdraw(
      NodeClaim each, Duration minHold, boolean unsettled, List<Runnable> effects) {
    Claim first = each.claim.withMinHold(minHold);
    Claim gone = unsettled || each.isUnsettled() ? first.asUnsettled() : first;
    each.giveUp();
    CompletableFuture<Void> told = new CompletableFuture<>();
    effects.add(
        () ->
            nodes
                .get(each.node)
                .withdraw(gone, each.claim.minHold())
                .whenComplete(
                    (nothing, error) -> {
                      if (error == null) {
                        told.complete(null);
                      } else {
                        told.completeExceptionally(Node.failure(nodes.get(each.node), error));
                      }
                    }));
    return told;
  }
}
