package io.pawl.quorum;

import io.pawl.concurrent.Time;
import io.pawl.spi.QuorumNode.Incarnation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/**
 * Raises nodes that have forgotten their tokens, so that they vote again.
 *
 * <p>A grant that such a node voted for was voted for by a majority, itself among it; so by one
 * node at least of any majority of the <em>others</em>. What the largest of these has granted is
 * therefore no smaller than any token that was told with the lost vote. It is asked for after the
 * longest lease is over, in a question that is put once the node has said so: by then no claim that
 * counts on a lost vote can still be granted.
 *
 * <p>Where so many have forgotten that no majority of others remembers, nobody knows what was told.
 * Then all that answer, a majority, are asked instead: in a new quorum that is right, and after the
 * loss of a majority's memory tokens rest on the clocks of Redis.
 */
final class Rejoin {

  private static final long PAUSE_NANOS = 200_000_000L;

  private final List<Node> nodes;
  private final Time time;
  private final long patienceNanos;
  private final AtomicBoolean looking = new AtomicBoolean();
  private final AtomicIntegerArray owing;

  /**
   * @param patienceNanos how long nodes are waited for that do not say who they are
   */
  Rejoin(List<Node> nodes, Time time, long patienceNanos) {
    this.nodes = nodes;
    this.time = time;
    this.patienceNanos = patienceNanos;
    this.owing = new AtomicIntegerArray(nodes.size());
  }

  /** A node has refused something: maybe it waits for this. Looks soon, once for many. */
  void lookSoon() {
    if (looking.compareAndSet(false, true)) {
      time.after(
          PAUSE_NANOS,
          () ->
              ask()
                  .thenCompose(this::raiseIfReady)
                  .whenComplete((nothing, error) -> looking.set(false)));
    }
  }

  /** What fails is tried again when the node refuses again. */
  private CompletionStage<Void> raiseIfReady(List<@Nullable Incarnation> who) {
    return who.stream().anyMatch(Rejoin::isReady)
        ? ask().thenAccept(since -> raise(who, since))
        : CompletableFuture.completedFuture(null);
  }

  private static boolean isReady(@Nullable Incarnation who) {
    return who != null && !who.raised() && who.votesIn().isZero();
  }

  /** One whose time was over only after {@code before} has its turn when it refuses again. */
  private void raise(List<@Nullable Incarnation> before, List<@Nullable Incarnation> who) {
    for (int i = 0; i < nodes.size(); i++) {
      Incarnation known = who.get(i);
      long above = isReady(before.get(i)) && isReady(known) ? above(who, i) : -1;
      if (known != null && above >= 0) {
        nodes.get(i).ask("", open -> open.raise(known, above));
      }
    }
  }

  /** What a node is to be raised to; -1 where too few others say what they have granted. */
  static long above(List<@Nullable Incarnation> who, int node) {
    int majority = who.size() / 2 + 1;
    int remembering = 0;
    int forgetful = 0;
    long above = 0;
    long highest = 0;
    for (int i = 0; i < who.size(); i++) {
      Incarnation each = who.get(i);
      if (each != null) {
        boolean remembers = each.raised() && i != node;
        remembering += remembers ? 1 : 0;
        forgetful += each.raised() ? 0 : 1;
        above = Math.max(above, remembers ? each.highest() : 0);
        highest = Math.max(highest, each.highest());
      }
    }
    if (remembering >= majority) {
      return above;
    }
    boolean lost = who.size() - forgetful < majority;
    return lost && remembering + forgetful >= majority ? highest : -1;
  }

  private CompletionStage<List<@Nullable Incarnation>> ask() {
    List<CompletableFuture<@Nullable Incarnation>> asked = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      asked.add(ask(i));
    }
    time.after(patienceNanos, () -> asked.forEach(each -> each.complete(null)));
    return CompletableFuture.allOf(asked.toArray(CompletableFuture[]::new))
        .thenApply(nothing -> asked.stream().map(each -> each.getNow(null)).toList());
  }

  /** One that owes an answer to an earlier question would only have the more to answer. */
  private CompletableFuture<@Nullable Incarnation> ask(int node) {
    if (!owing.compareAndSet(node, 0, 1)) {
      return CompletableFuture.completedFuture(null);
    }
    return nodes
        .get(node)
        .ask("", open -> open.incarnation())
        .whenComplete((known, error) -> owing.set(node, 0)) // even if it is not waited for by then
        .toCompletableFuture()
        .handle((known, error) -> error == null ? known : null);
  }
}
