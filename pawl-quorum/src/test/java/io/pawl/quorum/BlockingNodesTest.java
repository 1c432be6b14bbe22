package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Nodes that answer on the thread that asks, as databases do. */
class BlockingNodesTest {

  private static final String HELD = "Aa";

  /** Of the same hash, and so in the same lane. */
  private static final String KEPT = "BB";

  private final List<MemoryNode> nodes = new ArrayList<>();

  private static Claim claim(String lock, long number) {
    return new Claim(
        lock,
        new ClaimId("client", number),
        Mode.EXCLUSIVE,
        Duration.ofSeconds(30),
        Duration.ZERO,
        true,
        1,
        0,
        false,
        new Holder("host", 1, "thread", "", ""));
  }

  private static <T> T answer(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  @Test
  void p5_lossIsTold_aRenewalWaitsForNoAttemptOfAnotherLock() throws Exception {
    for (int i = 0; i < 3; i++) {
      MemoryNode node = new MemoryNode(new MemoryStore(), "memory " + i);
      node.keepsThreads();
      node.holdBackAttempts(claim -> claim.lock().equals(KEPT));
      nodes.add(node);
    }
    QuorumOptions patient = QuorumOptions.defaults().nodeTimeout(Duration.ofSeconds(10));
    try (QuorumStore store = QuorumStore.over(nodes, patient)) {
      Claim held = claim(HELD, 1);
      assertThat(answer(store.attempt(held, rung -> {}))).isInstanceOf(Standing.Held.class);
      store.attempt(claim(KEPT, 2), rung -> {});

      assertThat(answer(store.renew(List.of(held))).get(held.id()))
          .isInstanceOf(Standing.Held.class);
    } finally {
      nodes.forEach(MemoryNode::letAttemptsGo);
    }
  }
}
