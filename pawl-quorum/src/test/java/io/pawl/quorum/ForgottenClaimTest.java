package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ForgottenClaimTest {

  private static final String LOCK = "lock";
  private static final long SECOND = 1_000_000_000L;
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final World world = new World();
  private final List<MemoryNode> stores = new ArrayList<>();
  private final List<Node> nodes = new ArrayList<>();
  private final QuorumLocks locks = client();
  private boolean isCut;

  private QuorumLocks client() {
    for (int i = 0; i < 3; i++) {
      MemoryNode store = new MemoryNode(new MemoryStore(), "node " + i);
      Node node = new Node("node", () -> reached(store), world.time(), new Lanes("test"));
      node.open();
      stores.add(store);
      nodes.add(node);
    }
    return new QuorumLocks(nodes, QuorumOptions.defaults(), world.time(), new Random(1));
  }

  private QuorumNode reached(MemoryNode store) {
    return (QuorumNode)
        Proxy.newProxyInstance(
            QuorumNode.class.getClassLoader(),
            new Class<?>[] {QuorumNode.class, Inspectable.class, Diagnosable.class},
            (proxy, method, arguments) ->
                isCut && CompletionStage.class.equals(method.getReturnType())
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("cut off"))
                    : method.invoke(store, arguments));
  }

  private <T> T answer(CompletionStage<T> stage) {
    world.run(SECOND);
    assertThat(stage.toCompletableFuture()).isDone();
    return stage.toCompletableFuture().join();
  }

  private Claim asked(long number, Class<? extends Standing> expected) {
    Claim claim = Claims.exclusive(LOCK, "client", number, LEASE);
    assertThat(answer(locks.attempt(claim, rung -> {}))).isInstanceOf(expected);
    return claim;
  }

  private Stream<ClaimId> known() {
    return stores.stream()
        .flatMap(store -> store.show(LOCK).toCompletableFuture().join().stream())
        .flatMap(ForgottenClaimTest::claims)
        .map(claim -> QuorumLocks.engineId(claim.id()));
  }

  private static Stream<ClaimView> claims(LockView lock) {
    return Stream.concat(lock.holders().stream(), lock.waiters().stream());
  }

  /** Of a process that stood still: their clients would note it as one that waits, for ever. */
  @Test
  void p8_aClaimThatWasNotHeardOfForLongLeavesTheNodesWhenItIsForgotten() {
    Claim holder = asked(1, Standing.Held.class);
    Claim waiter = asked(2, Standing.Waiting.class);
    for (int i = 0; i < 18; i++) {
      world.run(9 * SECOND);
      assertThat(answer(locks.renew(List.of(holder))).get(holder.id()))
          .isInstanceOf(Standing.Held.class);
    }
    assertThat(known()).contains(waiter.id());

    locks.sweep();

    assertThat(known()).hasSize(stores.size()).containsOnly(holder.id());
  }

  /** Nobody would give it back at the nodes, and its hold would be lost at its first renewal. */
  @Test
  void p8_aClaimIsNotForgottenBeforeItsFirstQuestion() {
    world.run(180 * SECOND);
    Claim claim = Claims.exclusive(LOCK, "client", 1, LEASE);
    QuorumClaim made = new QuorumClaim(claim, rung -> {}, locks, nodes);

    made.endIfForgotten(world.now());

    assertThat(answer(made.attempt(claim, rung -> {}))).isInstanceOf(Standing.Held.class);
  }

  /**
   * Its ids at the nodes are withdrawn, there or later; another claim of its id would have them.
   */
  @Test
  void p1_oneHolder_aClaimThatWasForgottenIsGoneThoughItIsAttemptedAgain() {
    Claim claim = Claims.exclusive(LOCK, "client", 1, LEASE);
    isCut = true;
    CompletionStage<Standing> unanswered = locks.attempt(claim, rung -> {});
    world.run(180 * SECOND);
    assertThat(unanswered.toCompletableFuture()).isCompletedExceptionally();
    locks.sweep();
    isCut = false;

    Standing again = answer(locks.attempt(claim, rung -> {}));

    assertThat(again).isEqualTo(Standing.GONE);
  }
}
