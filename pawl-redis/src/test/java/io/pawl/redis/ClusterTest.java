package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisCluster.SlotMove;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks on many nodes, and on slots that move between them. */
class ClusterTest {

  @ParameterizedTest
  @EnumSource
  void aLockStandsThroughEachStepOfTheMoveOfItsSlot(Flavour flavour) {
    try (RedisCluster cluster = RedisCluster.start(flavour);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      Seam seam = new Seam(store);
      String lock = "moving{of}a}{slot";
      Claim claim = seam.claim(lock);
      Standing.Held held = seam.take(claim);
      Claim waiter = seam.claim(lock);
      assertThat(seam.attempt(waiter)).isInstanceOf(Standing.Waiting.class);
      int slot = cluster.slotOf(Keys.of(lock));
      RedisServer owner = cluster.ownerOf(slot);
      RedisServer target =
          cluster.nodes().stream().filter(node -> node != owner).findFirst().orElseThrow();

      SlotMove move = cluster.moveSlot(slot, target).begin();
      assertThat(seam.renew(claim)).isEqualTo(held);
      assertThat(move.moveKeys(100)).isEqualTo(1);
      assertThat(seam.renew(claim)).isEqualTo(held);
      assertThat(seam.renew(waiter)).isInstanceOf(Standing.Waiting.class);
      seam.withdraw(claim);
      Standing.Held second = (Standing.Held) seam.renew(waiter);
      assertThat(second.token()).isGreaterThan(held.lastToken());
      move.finish();
      assertThat(seam.renew(waiter)).isEqualTo(second);
      seam.withdraw(waiter);
      assertThat(seam.take(seam.claim(lock)).token()).isGreaterThan(second.lastToken());
    }
  }

  /** Which is dialled under the name of the URL, and again under the one that others tell. */
  @Test
  void aStoreOpensThoughANodeIsSilentThatHasTwoNames() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS)) {
      RedisServer silent = cluster.nodes().get(0);
      RedisServer other = cluster.nodes().get(1);
      silent.pause();

      RedisStore.connect(
              "redis-cluster://localhost:"
                  + silent.port()
                  + ","
                  + other.host()
                  + ":"
                  + other.port()
                  + "?timeout=500ms")
          .close();
    }
  }

  /** Halfway, the server answers TRYAGAIN to a command for both. */
  @Test
  void locksOfOneSlotAreTakenAndRenewedTogetherWhileItMoves() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      Seam seam = new Seam(store);
      List<Claim> claims = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        claims.add(seam.claim("{together}" + i));
      }
      Map<ClaimId, Standing> taken = new HashMap<>();
      claims.forEach(claim -> taken.put(claim.id(), seam.take(claim)));
      int slot = cluster.slotOf(Keys.of("{together}0"));
      RedisServer owner = cluster.ownerOf(slot);
      RedisServer target =
          cluster.nodes().stream().filter(node -> node != owner).findFirst().orElseThrow();

      SlotMove move = cluster.moveSlot(slot, target).begin();
      for (int left = claims.size(); left > 0; left -= 2) {
        assertThat(move.moveKeys(2)).isEqualTo(2);
        assertThat(Seam.answer(store.renew(claims))).isEqualTo(taken);
        List<CompletionStage<Standing>> again =
            claims.stream().map(claim -> store.attempt(claim, standing -> {})).toList();
        assertThat(again.stream().map(Seam::answer))
            .containsExactlyElementsOf(valuesOf(claims, taken));
      }
      move.finish();
      assertThat(Seam.answer(store.renew(claims))).isEqualTo(taken);
    }
  }

  private static List<Standing> valuesOf(List<Claim> claims, Map<ClaimId, Standing> standings) {
    List<Standing> values = new ArrayList<>();
    claims.forEach(claim -> values.add(standings.get(claim.id())));
    return values;
  }

  /** The client asks the old node first, which has done nothing of what it redirects. */
  @Test
  void aSpoiltKeyFailsOnlyItsOwnLockAndForCertainThoughTheSlotHasMoved() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      Seam seam = new Seam(store);
      seam.withdraw(seam.claim("{spoilt}"));
      seam.take(seam.claim("{spoilt}"));
      int slot = cluster.slotOf(Keys.of("{spoilt}"));
      RedisServer owner = cluster.ownerOf(slot);
      RedisServer target =
          cluster.nodes().stream().filter(node -> node != owner).findFirst().orElseThrow();
      owner.call("SET", Keys.of("{spoilt}1"), "text");
      SlotMove move = cluster.moveSlot(slot, target).begin();
      assertThat(move.moveKeys(100)).isEqualTo(2);
      move.finish();

      List<CompletionStage<Standing>> asked = new ArrayList<>();
      store.together(
          () -> {
            for (int i = 0; i < 4; i++) {
              asked.add(store.attempt(seam.claim("{spoilt}" + i), standing -> {}));
            }
          });

      for (int i = 0; i < 4; i++) {
        CompletionStage<Standing> attempt = asked.get(i);
        if (i == 1) {
          assertThatThrownBy(() -> Seam.answer(attempt))
              .isInstanceOf(StoreConfigurationException.class);
        } else {
          assertThat(Seam.answer(attempt)).isInstanceOf(Standing.Held.class);
        }
      }
    }
  }

  @Test
  void aDeadNodeDelaysNoRenewalOfOthers() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = Seam.connect(Urls.of(cluster) + "?timeout=700ms")) {
      cluster
          .nodes()
          .forEach(node -> node.call("CONFIG", "SET", "cluster-require-full-coverage", "no"));
      Seam seam = new Seam(store);
      Map<ClaimId, Claim> claims = new HashMap<>();
      for (int i = 0; i < 60; i++) {
        Claim claim = seam.claim("node" + i);
        seam.take(claim);
        claims.put(claim.id(), claim);
      }
      RedisServer frozen = cluster.nodes().get(1);
      List<ClaimId> theirs =
          claims.values().stream()
              .filter(claim -> cluster.ownerOf(cluster.slotOf(Keys.of(claim.lock()))) != frozen)
              .map(Claim::id)
              .toList();
      assertThat(theirs).hasSizeBetween(1, 59);
      frozen.pause();

      Map<ClaimId, Standing> standings = Seam.answer(store.renew(claims.values()));

      assertThat(standings).containsOnlyKeys(theirs);
      assertThat(standings.values()).allMatch(Standing.Held.class::isInstance);
      frozen.resume();
      await()
          .ignoreException(StoreUnavailableException.class)
          .until(() -> Seam.answer(store.renew(claims.values())).size() == 60);
    }
  }

  /** One of them has the connection by which the client came to the Cluster. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aNodeThatDiesKeepsNobodyFromTheOthers(int dies) {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      cluster
          .nodes()
          .forEach(node -> node.call("CONFIG", "SET", "cluster-require-full-coverage", "no"));
      RedisServer dead = cluster.nodes().get(dies);
      Seam seam = new Seam(store);
      Map<ClaimId, Claim> others = new HashMap<>();
      for (int i = 0; i < 20; i++) {
        Claim claim = seam.claim("dies" + i);
        seam.take(claim);
        if (cluster.ownerOf(cluster.slotOf(Keys.of(claim.lock()))) != dead) {
          others.put(claim.id(), claim);
        }
      }

      dead.kill();

      await()
          .during(Duration.ofSeconds(1))
          .until(() -> Seam.answer(store.renew(others.values())).size() == others.size());
    }
  }

  /** Its connection is being opened when it is asked for: nobody's thread waits for that. */
  @Test
  void aNodeThatIsSilentKeepsNobodyWhoAsksForAllCounters() throws Exception {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      RedisServer silent = cluster.nodes().get(1);
      silent.pause();

      CompletionStage<List<CounterView>> asked = store.list("", 10);

      assertThat(asked.toCompletableFuture()).isNotDone();
      assertThatThrownBy(() -> Seam.answer(asked)).isInstanceOf(StoreUnavailableException.class);
      List<Finding> findings = store.diagnose();
      assertThat(findings)
          .anyMatch(
              each -> each.level() == Level.PROBLEM && each.what().contains("cannot be reached"));
      assertThat(findings).anyMatch(each -> each.what().contains("Redis "));
      silent.resume();
      await()
          .ignoreException(StoreUnavailableException.class)
          .until(() -> Seam.answer(store.list("", 10)).isEmpty());
    }
  }

  /**
   * The timeout of a request is longer than the leases, so that one answer for all came too late.
   */
  @Test
  void locksOfOtherNodesAreHeldOnWhileANodeIsSilent() {
    LockOptions options = LockOptions.defaults().lease(Duration.ofSeconds(2));
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        Pawl pawl = Pawl.connect(Urls.of(cluster) + "?timeout=10s")) {
      RedisServer frozen = cluster.nodes().get(1);
      List<Lease> theirs = new ArrayList<>();
      List<Lease> others = new ArrayList<>();
      for (int i = 0; i < 30; i++) {
        String lock = "silent" + i;
        boolean there = cluster.ownerOf(cluster.slotOf(Keys.of(lock))) == frozen;
        (there ? theirs : others).add(pawl.lock(lock, options).tryAcquire().orElseThrow());
      }
      cluster
          .nodes()
          .forEach(node -> node.call("CONFIG", "SET", "cluster-require-full-coverage", "no"));
      frozen.pause();
      await().until(() -> theirs.stream().noneMatch(Lease::isValid));
      await().during(Duration.ofSeconds(3)).until(() -> others.stream().allMatch(Lease::isValid));
      others.forEach(Lease::close);
      frozen.resume();
    }
  }

  @Test
  void waitersOnEveryNodeAreCalledThroughOneSubscription() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster));
        RedisStore others = RedisStore.connect(Urls.of(cluster))) {
      Seam here = new Seam(store);
      Seam there = new Seam(others);
      for (int i = 0; i < 12; i++) {
        Claim holder = there.claim("call" + i);
        there.take(holder);
        Claim waiter = here.claim("call" + i);
        CompletableFuture<Standing> rung = new CompletableFuture<>();
        Seam.answer(store.attempt(waiter, rung::complete));
        there.withdraw(holder);
        assertThat(Seam.answer(rung)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void aCounterStandsThroughTheMoveOfItsSlot(Flavour flavour) {
    try (RedisCluster cluster = RedisCluster.start(flavour);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      String counter = "moving{of}a}{slot";
      apply(store, counter, "stock", new Operation.SetTo(10));
      apply(store, counter, "open", new Operation.Reserve(2, 60_000));
      CounterAnswer first = apply(store, counter, "order", new Operation.Add(-1));
      int slot = cluster.slotOf(Keys.ofCounter(counter));
      RedisServer owner = cluster.ownerOf(slot);
      RedisServer target =
          cluster.nodes().stream().filter(node -> node != owner).findFirst().orElseThrow();

      SlotMove move = cluster.moveSlot(slot, target).begin();
      assertThat(apply(store, counter, "order", new Operation.Add(-1))).isEqualTo(first);
      assertThat(move.moveKeys(100)).isEqualTo(1);
      assertThat(apply(store, counter, "order", new Operation.Add(-1))).isEqualTo(first);
      apply(store, counter, "open", Operation.CANCEL);
      move.finish();

      assertThat(apply(store, counter, "order", new Operation.Add(-1))).isEqualTo(first);
      assertThat(Seam.answer(store.read(counter)).orElseThrow().value()).isEqualTo(9);
    }
  }

  @Test
  void countersAreOnAnyNodeAndTheirBasketsInOneSlot() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      for (int i = 0; i < 20; i++) {
        apply(store, "spread" + i, "stock", new Operation.SetTo(i));
      }
      for (int i = 0; i < 20; i++) {
        assertThat(Seam.answer(store.read("spread" + i)).orElseThrow().value()).isEqualTo(i);
      }
      assertThatThrownBy(() -> basket(store, "spread1", "spread2"))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("'spread1'")
          .hasMessageContaining("'spread2'")
          .hasMessageContaining("{shop}");
      assertThat(Seam.answer(store.read("spread1")).orElseThrow().value()).isEqualTo(1);
      assertThat(basket(store, "{shop}1", "{shop}2")).isInstanceOf(CounterAnswer.Applied.class);
    }
  }

  private static CounterAnswer basket(RedisStore store, String one, String other) {
    Operation add = new Operation.Add(1);
    TreeMap<String, Operation> both = new TreeMap<>(Map.of(one, add, other, add));
    return Seam.answer(store.apply(new CounterRequest("basket", 0, both, true)));
  }

  private static CounterAnswer apply(
      RedisStore store, String counter, String id, Operation operation) {
    return Seam.answer(store.apply(CounterRequest.of(counter, id, 0, operation, true)));
  }
}
