package io.pawl.quorum;

import io.pawl.spi.Claim;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * How a claim ends: it is withdrawn at every node that may have something of it. Called under the
 * claim's mutex; confirmations come on threads of the nodes.
 */
final class Ending {

  private final NodeClaim[] at;
  private final Rounds rounds;
  private final QuorumLocks locks;
  private final AtomicIntegerArray confirmed;

  Ending(NodeClaim[] at, Rounds rounds, QuorumLocks locks) {
    this.at = at;
    this.rounds = rounds;
    this.locks = locks;
    this.confirmed = new AtomicIntegerArray(at.length);
  }

  /**
   * Completes when a majority has confirmed, or has nothing of it, and the seat, where others stand
   * in line: unless that has failed, or is not prompt. The others are told until they have.
   *
   * @param again what was withdrawn before may not have arrived
   * @param whenDone runs before it completes
   */
  CompletableFuture<Void> end(
      Claim gone, boolean again, NodeClaim seat, Runnable whenDone, List<Runnable> effects) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    CompletableFuture<Void> majority = new CompletableFuture<>();
    CompletableFuture<Void> served = new CompletableFuture<>();
    AtomicInteger confirmations = new AtomicInteger();
    AtomicInteger failures = new AtomicInteger();
    int needed = at.length / 2 + 1;
    for (NodeClaim each : at) {
      CompletableFuture<Void> told =
          isNothing(each, again) || confirmed.get(each.node) == 1
              ? CompletableFuture.completedFuture(null)
              : rounds.withdraw(each, gone.minHold(), gone.unsettled(), effects);
      told.whenComplete(
          (ok, error) -> {
            if (error == null) {
              confirmed.set(each.node, 1);
            }
            if (each.node == seat.node) {
              served.complete(null);
            }
            if (error == null && confirmations.incrementAndGet() == needed) {
              majority.complete(null);
            } else if (error != null && failures.incrementAndGet() == at.length - needed + 1) {
              done.completeExceptionally(error);
            }
          });
    }
    majority.thenAcceptBoth(
        served,
        (nothing, either) -> {
          whenDone.run();
          done.complete(null);
        });
    if (!served.isDone()) {
      effects.add(() -> locks.after(locks.promptNanos(gone), () -> served.complete(null)));
    }
    return done;
  }

  private static boolean isNothing(NodeClaim each, boolean again) {
    return each.isNothing() && !(again && each.givenUp);
  }
}
