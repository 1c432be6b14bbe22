package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Inspectable.LockView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A waiter's nodes lose its grant while the engine asks whether what its bell told is so still. */
class LostBeforeItWasHeardTest {

  private static final LockOptions NOT_RENEWED =
      LockOptions.defaults().lease(Duration.ofSeconds(60)).renewal(false);

  @Test
  void p6_someoneGetsIn_aGrantThatIsLostBeforeItsWaiterHasHeardLeavesNothingInItsWay()
      throws Exception {
    String lock = "seated at node 1";
    assertThat(Math.floorMod(lock.hashCode(), 3)).isEqualTo(1);
    List<MemoryNode> nodes =
        List.of(
            new MemoryNode(new MemoryStore(), "node 0"),
            new MemoryNode(new MemoryStore(), "node 1"),
            new MemoryNode(new MemoryStore(), "node 2"));
    try (QuorumStore store = QuorumStore.over(nodes, QuorumOptions.defaults());
        Pawl holder = Pawl.over(store);
        Pawl waiter = Pawl.over(store)) {
      Lease held = holder.lock(lock).acquire();
      CompletableFuture<Lease> wanted = waiter.lock(lock, NOT_RENEWED).acquireAsync();
      await().until(() -> isWaitedFor(store, lock));
      nodes.get(0).losesTheNextHold();
      nodes.get(2).losesTheNextHold();

      held.close();

      try (Lease got = wanted.get(10, TimeUnit.SECONDS)) {
        assertThat(got.isValid()).isTrue();
      }
    }
  }

  private static boolean isWaitedFor(QuorumStore store, String lock) {
    Optional<LockView> view = store.show(lock).toCompletableFuture().join();
    return view.isPresent() && !view.get().waiters().isEmpty();
  }
}
