package io.pawl.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.servers.RedisCluster.SlotMove;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.servers.fault.ProxiedServer;
import io.pawl.servers.fault.Shard;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RedisGroupsTest {

  /** After a takeover: a machine that stands still for a second must not bring about another. */
  private static final String PATIENT = "60000";

  @ParameterizedTest
  @EnumSource
  void sentinelsPromoteTheReplicaOfAKilledPrimary(Flavour flavour) {
    try (RedisSentinels group = RedisSentinels.start(flavour, Duration.ofSeconds(2))) {
      assertThat(group.primaryPorts()).containsOnly(group.primary().port());
      group.primary().kill();
      group.awaitPrimary(group.replica());
      assertThat(group.replica().call("SET", "k", "v")).isEqualTo("OK");
    }
  }

  @ParameterizedTest
  @EnumSource
  void slotMovesStepByStep(Flavour flavour) {
    try (RedisCluster cluster = RedisCluster.start(flavour)) {
      int slot = cluster.slotOf("{pawl}a");
      assertThat(cluster.slotOf("{pawl}b")).isEqualTo(slot);
      RedisServer from = cluster.ownerOf(slot);
      RedisServer to =
          cluster.nodes().stream().filter(node -> node != from).findAny().orElseThrow();
      from.call("SET", "{pawl}a", "1");
      from.call("SET", "{pawl}b", "2");
      assertThatThrownBy(() -> to.call("GET", "{pawl}a"))
          .hasMessage("MOVED " + slot + " " + at(from));

      SlotMove move = cluster.moveSlot(slot, to).begin();
      assertThat(move.from()).isSameAs(from);
      assertThat(from.call("GET", "{pawl}a")).isEqualTo("1");
      assertThatThrownBy(() -> from.call("GET", "{pawl}c"))
          .hasMessage("ASK " + slot + " " + at(to));
      assertThat(move.moveKeys(1)).isEqualTo(1);
      assertThatThrownBy(() -> from.call("MGET", "{pawl}a", "{pawl}b"))
          .hasMessageStartingWith("TRYAGAIN");

      move.finish();
      assertThat(cluster.ownerOf(slot)).isSameAs(to);
      assertThat(to.text("MGET", "{pawl}a", "{pawl}b")).isEqualTo("[1, 2]");
      assertThatThrownBy(() -> from.call("GET", "{pawl}a"))
          .hasMessage("MOVED " + slot + " " + at(to));
    }
  }

  @Test
  void aKilledPrimaryComesBackAsAReplicaBehindItsProxy() {
    try (RedisSentinels group = RedisSentinels.startProxied(Duration.ofSeconds(1))) {
      Shard shard = new Shard("group", behind(group, 0), behind(group, 1));
      ProxiedServer before = shard.primary();
      long takeovers = group.takeovers();
      group.primary().call("SET", "k", "v");
      group.primary().awaitReplicated(group.replica());

      shard.killUntilTakeover();
      group
          .sentinels()
          .forEach(
              sentinel ->
                  sentinel.call(
                      "SENTINEL", "SET", RedisSentinels.NAME, "down-after-milliseconds", PATIENT));
      group.awaitSettled();

      assertThat(shard.replica()).isEqualTo(before);
      assertThat(group.takeovers()).isGreaterThan(takeovers);
      assertThat(group.primaryPorts()).containsOnly(shard.primary().proxy().port());
      assertThat(group.replica().call("GET", "k")).isEqualTo("v");
    }
  }

  private static ProxiedServer behind(RedisSentinels group, int number) {
    RedisServer server = number == 0 ? group.primary() : group.replica();
    return new ProxiedServer("server " + number, server, group.proxies().get(number));
  }

  @Test
  void aStoppedNodeComesBackAsAReplicaBehindItsProxy() {
    try (RedisCluster cluster = RedisCluster.startProxied()) {
      int first = cluster.shards();
      Shard shard =
          new Shard(
              "shard",
              new ProxiedServer("one", cluster.nodes().get(0), cluster.proxies().get(0)),
              new ProxiedServer("other", cluster.nodes().get(first), cluster.proxies().get(first)));
      ProxiedServer before = shard.primary();
      long takeovers = cluster.takeovers();

      shard.stopUntilTakeover();
      cluster.nodes().forEach(node -> node.call("CONFIG", "SET", "cluster-node-timeout", PATIENT));
      cluster.awaitSettled();

      assertThat(shard.replica()).isEqualTo(before);
      assertThat(cluster.takeovers()).isGreaterThan(takeovers);
      assertThat(String.valueOf(cluster.nodes().get(1).call("CLUSTER", "SLOTS")))
          .contains(Integer.toString(shard.primary().proxy().port()));
    }
  }

  private static String at(RedisServer node) {
    return node.host() + ":" + node.port();
  }
}
