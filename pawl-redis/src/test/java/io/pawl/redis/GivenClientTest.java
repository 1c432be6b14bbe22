package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.resource.ClientResources;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A Lettuce client of the application's: used, and given back as it came. */
class GivenClientTest {

  /** Holds, waits, is called and gives back, so that every connection is opened. */
  private static void use(RedisStore one, RedisStore other, String lock) {
    Seam here = new Seam(one);
    Seam there = new Seam(other);
    Claim holder = here.claim(lock);
    Claim waiter = there.claim(lock);
    here.take(holder);
    CompletableFuture<Standing> rung = new CompletableFuture<>();
    assertThat(Seam.answer(other.attempt(waiter, rung::complete)))
        .isInstanceOf(Standing.Waiting.class);
    here.withdraw(holder);
    assertThat(Seam.answer(rung)).isInstanceOf(Standing.Held.class);
    there.withdraw(waiter);
  }

  private static int clients(List<RedisServer> servers) {
    int connected = 0;
    for (RedisServer server : servers) {
      connected += server.text("CLIENT", "LIST", "TYPE", "NORMAL").trim().split("\n").length;
      connected += server.text("CLIENT", "LIST", "TYPE", "PUBSUB").trim().lines().count();
    }
    return connected;
  }

  private static void nothingIsLeft(List<RedisServer> servers, int before) {
    await().untilAsserted(() -> assertThat(clients(servers)).isLessThanOrEqualTo(before));
    for (RedisServer server : servers) {
      assertThat(server.list("PUBSUB", "CHANNELS")).isEmpty();
    }
  }

  @Test
  void aClientOfASingleServerStaysItsOwners() {
    try (RedisServer server = RedisServer.setup().password("theirs").start()) {
      RedisURI uri = RedisURI.create(server.url());
      RedisClient client = RedisClient.create(uri);
      try (StatefulRedisConnection<String, String> theirs = client.connect()) {
        int before = clients(List.of(server));

        try (RedisStore one = RedisStore.over(client, uri, RedisOptions.defaults());
            RedisStore other = RedisStore.over(client, uri, RedisOptions.defaults())) {
          use(one, other, "given");
          assertThat(one.describe()).doesNotContain("theirs");
        }

        nothingIsLeft(List.of(server), before);
        assertThat(theirs.sync().ping()).isEqualTo("PONG");
        try (StatefulRedisConnection<String, String> more = client.connect()) {
          assertThat(more.sync().ping()).isEqualTo("PONG");
        }
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
      }
    }
  }

  @Test
  void aClientOfAClusterStaysItsOwners() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS)) {
      RedisServer first = cluster.nodes().get(0);
      ClientResources resources = ClientResources.create();
      RedisClusterClient client = RedisClusterClient.create(resources, first.url());
      try (StatefulRedisClusterConnection<String, String> theirs = client.connect()) {
        for (RedisServer node : cluster.nodes()) {
          theirs.getConnection(node.host(), node.port()).sync().ping();
        }
        for (int i = 0; i < 20; i++) {
          theirs.sync().set("warm" + i, "x");
        }
        int before = clients(cluster.nodes());

        try (RedisStore one = RedisStore.over(client, RedisOptions.defaults());
            RedisStore other = RedisStore.over(client, RedisOptions.defaults())) {
          for (int i = 0; i < 10; i++) {
            use(one, other, "given" + i);
          }
        }

        nothingIsLeft(cluster.nodes(), before);
        assertThat(theirs.sync().get("warm1")).isEqualTo("x");
      } finally {
        client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
        resources.shutdown().awaitUninterruptibly();
      }
    }
  }
}
