package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Another server takes over, with or without what the first one acknowledged. */
class FailoverTest {

  private static Standing.Held takenInTheEnd(Seam seam, Claim claim) {
    await()
        .atMost(Duration.ofMinutes(1))
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.attempt(claim) instanceof Standing.Held);
    return seam.take(claim);
  }

  private static boolean inStep(RedisServer replica) {
    return replica.text("INFO", "replication").contains("master_link_status:up");
  }

  @ParameterizedTest
  @EnumSource
  void aLaggingReplicaLosesTheHoldButTokensRise(Flavour flavour) {
    try (RedisServer primary = RedisServer.setup().flavour(flavour).start();
        RedisServer replica = RedisServer.setup().flavour(flavour).replicaOf(primary).start();
        FaultProxy link = FaultProxy.before(primary.host(), primary.port())) {
      replica.call("REPLICAOF", link.host(), Integer.toString(link.port()));
      Standing.Held first;
      Standing.Held lost;
      try (RedisStore store = RedisStore.connect(primary.url())) {
        Seam seam = new Seam(store);
        Claim before = seam.claim("lagging", Seam.LEASE, 64);
        first = seam.take(before);
        seam.withdraw(before);
        await()
            .until(() -> replica.call("EXISTS", Keys.of("lagging")).equals(1L) && inStep(replica));
        link.blackHole(Direction.TO_CLIENT);
        lost = seam.take(seam.claim("lagging", Seam.LEASE, 64));
        assertThat(lost.token()).isGreaterThan(first.lastToken());
      }
      primary.kill();
      replica.call("REPLICAOF", "NO", "ONE");
      try (RedisStore store = RedisStore.connect(replica.url())) {
        Seam seam = new Seam(store);
        assertThat(seam.take(seam.claim("lagging")).token()).isGreaterThan(lost.lastToken());
      }
    }
  }

  @Test
  void sentinelsLeadToTheNewPrimaryAfterAKill() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=500ms")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("sentinel");
      Standing.Held held = seam.take(claim);
      group.primary().awaitReplicated(group.replica());
      group.primary().kill();
      group.awaitPrimary(group.replica());
      assertThat(takenInTheEnd(seam, claim)).isEqualTo(held);
      seam.withdraw(claim);
      assertThat(seam.take(seam.claim("sentinel")).token()).isGreaterThan(held.lastToken());
    }
  }

  @Test
  void sentinelsLeadAwayFromAPrimaryThatIsFrozen() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.VALKEY, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=500ms")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("frozen");
      Standing.Held held = seam.take(claim);
      group.primary().awaitReplicated(group.replica());
      group.primary().pause();
      group.awaitPrimary(group.replica());
      assertThat(takenInTheEnd(seam, claim)).isEqualTo(held);
    }
  }

  @Test
  void aSentinelThatIsRestartedCostsNoConnectionToThePrimary() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("before"));
      awaitListener(group.sentinels().get(0));
      List<String> before = connections(group.primary());
      assertThat(before).isNotEmpty();
      group.sentinels().get(0).kill();
      awaitListener(group.sentinels().get(1));
      group.sentinels().get(0).restart();

      await()
          .during(Duration.ofSeconds(1))
          .until(() -> connections(group.primary()).equals(before));
    }
  }

  private static List<String> connections(RedisServer server) {
    return server
        .text("CLIENT", "LIST")
        .lines()
        .filter(line -> line.contains("name=pawl"))
        .map(line -> line.substring(0, line.indexOf(' ')))
        .toList();
  }

  private static void awaitListener(RedisServer sentinel) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> sentinel.text("CLIENT", "LIST").contains(" sub=1 "));
  }

  /** It serves whoever is connected until the Sentinels demote it, and forgets that then. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPrimaryThatWasOnlyPausedIsLeftBeforeItAnswersAgain(boolean aSentinelWasPausedToo) {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofMillis(500));
        RedisStore store = RedisStore.connect(Urls.of(group) + "&timeout=20s")) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("before"));
      if (aSentinelWasPausedToo) {
        awaitListener(group.sentinels().get(0));
        group.sentinels().get(0).pause();
        awaitListener(group.sentinels().get(1));
        group.sentinels().get(0).resume();
      }
      RedisServer paused = group.primary();
      RedisServer next = group.replica();
      paused.pause();
      group.awaitPrimary(next);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> next.text("CLIENT", "LIST").contains("name=pawl"));
      paused.resume();

      takenInTheEnd(seam, seam.claim("paused"));

      assertThat(next.call("EXISTS", Keys.of("paused"))).isEqualTo(1L);
    }
  }

  /** As behind a name, a virtual IP or a balancer, which leave open connections where they are. */
  @Test
  void aPrimaryThatIsDemotedInPlaceIsLeftThoughTheConnectionStaysOpen() {
    try (RedisServer before = RedisServer.start();
        RedisServer after = RedisServer.start();
        FaultProxy name = FaultProxy.before(before);
        RedisStore store = RedisStore.connect("redis://" + name.host() + ":" + name.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("demoted"));
      name.leadTo(after);
      before.call("REPLICAOF", after.host(), Integer.toString(after.port()));
      assertThatThrownBy(() -> seam.attempt(seam.claim("demoted")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("read-only replica");
      takenInTheEnd(seam, seam.claim("demoted"));
      assertThat(after.call("EXISTS", Keys.of("demoted"))).isEqualTo(1L);
    }
  }

  @Test
  void aReplicaThatHasLostItsPrimaryIsLeftThoughTheConnectionStaysOpen() {
    try (RedisServer before =
            RedisServer.setup().setting("replica-serve-stale-data", "no").start();
        RedisServer after = RedisServer.start();
        FaultProxy name = FaultProxy.before(before);
        RedisStore store = RedisStore.connect("redis://" + name.host() + ":" + name.port())) {
      Seam seam = new Seam(store);
      seam.take(seam.claim("orphaned"));
      name.leadTo(after);
      before.call("REPLICAOF", "127.0.0.1", "1");
      assertThatThrownBy(() -> seam.attempt(seam.claim("orphaned")))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("lost its primary");
      takenInTheEnd(seam, seam.claim("orphaned"));
      assertThat(after.call("EXISTS", Keys.of("orphaned"))).isEqualTo(1L);
    }
  }

  @Test
  void aPrimaryThatIsDemotedWhileItWaitsForReplicasIsAnOutage() {
    try (RedisServer server = RedisServer.start();
        RedisStore store =
            RedisStore.connect(server.url() + "?waitReplicas=1&waitTimeout=5s&timeout=10s")) {
      Seam seam = new Seam(store);
      CompletionStage<Standing> asked = store.attempt(seam.claim("demoted"), standing -> {});
      await().until(() -> server.text("INFO", "clients").contains("blocked_clients:1"));
      server.call("REPLICAOF", server.host(), "1");

      assertThatThrownBy(() -> Seam.answer(asked)).isInstanceOf(StoreUnavailableException.class);
    }
  }

  @Test
  void aDemotedPrimaryThatSentinelsStillNameIsAnOutage() {
    try (RedisSentinels group =
        RedisSentinels.start(RedisServer.Flavour.REDIS, Duration.ofSeconds(30))) {
      group.primary().call("REPLICAOF", group.primary().host(), "1");
      assertThatThrownBy(() -> RedisStore.connect(Urls.of(group)).close())
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageContaining("demoted");
    }
  }
}
