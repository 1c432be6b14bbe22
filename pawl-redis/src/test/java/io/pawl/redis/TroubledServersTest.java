package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Servers in a state in which they refuse all: each is told as what it is, in bounded time, nothing
 * is acquired meanwhile, and afterwards the same store works.
 */
class TroubledServersTest {

  private static final String URL_END = "?timeout=500ms";

  private static void refusesUntilItSays(Seam seam, String lock, String what) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(20))
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> seam.attempt(seam.claim(lock)))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(what));
  }

  private static Standing inTheEnd(Seam seam, Claim claim) {
    return await()
        .atMost(Duration.ofSeconds(30))
        .ignoreException(StoreUnavailableException.class)
        .until(() -> seam.attempt(claim), standing -> true);
  }

  @ParameterizedTest
  @EnumSource
  void aServerThatIsLoadingRefusesAndThenKnowsWhatItSaved(Flavour flavour) throws Exception {
    try (RedisServer server =
            RedisServer.setup()
                .flavour(flavour)
                .setting("key-load-delay", "200000") // microseconds for each
                .setting("loading-process-events-interval-bytes", "1024")
                .setting("rdbcompression", "no")
                .start();
        RedisStore store = Seam.connect(server.url() + URL_END)) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("loading");
      Standing.Held held = seam.take(claim);
      server.call("EVAL", "for i = 1, 150 do redis.call('SET', i, string.rep('x', 1100)) end", "0");
      server.call("SAVE");
      server.kill();
      FutureTask<Boolean> restart = new FutureTask<>(server::restart, true);
      new Thread(restart).start();

      refusesUntilItSays(seam, "loading", "still loading");

      server.call("CONFIG", "SET", "key-load-delay", "0");
      restart.get();
      assertThat(inTheEnd(seam, seam.claim("loading"))).isInstanceOf(Standing.Waiting.class);
      assertThat(seam.renew(claim)).isEqualTo(held);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aReplicaThatHasLostItsPrimaryRefuses(Flavour flavour) {
    try (RedisServer server = RedisServer.setup().flavour(flavour).start();
        RedisServer gone = RedisServer.start();
        RedisStore store = Seam.connect(server.url() + URL_END)) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("orphan");
      Standing.Held held = seam.take(claim);
      gone.kill();
      server.call("CONFIG", "SET", "replica-serve-stale-data", "no");
      server.call("REPLICAOF", gone.host(), Integer.toString(gone.port()));

      refusesUntilItSays(seam, "orphan", "lost its primary");

      server.call("REPLICAOF", "NO", "ONE");
      assertThat(inTheEnd(seam, seam.claim("orphan"))).isInstanceOf(Standing.Waiting.class);
      assertThat(seam.renew(claim)).isEqualTo(held);
    }
  }

  @Test
  void aClusterWithoutAllItsSlotsRefuses() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      Seam seam = new Seam(store);
      List<RedisServer> nodes = cluster.nodes();
      RedisServer lost = nodes.get(2);
      Claim there = seam.claim("there");
      for (int i = 0; cluster.ownerOf(cluster.slotOf(Keys.of(there.lock()))) != lost; i++) {
        there = seam.claim("there" + i);
      }
      Claim here = seam.claim("here");
      for (int i = 0; cluster.ownerOf(cluster.slotOf(Keys.of(here.lock()))) == lost; i++) {
        here = seam.claim("here" + i);
      }
      Standing.Held held = seam.take(here);
      seam.take(there);
      lost.kill();

      refusesUntilItSays(seam, here.lock(), "does not serve every slot");
      Claim unreachable = seam.claim(there.lock());
      assertThatThrownBy(() -> seam.attempt(unreachable))
          .isInstanceOf(StoreUnavailableException.class);

      lost.restart();
      cluster.awaitHealthy();
      assertThat(inTheEnd(seam, seam.claim(here.lock()))).isInstanceOf(Standing.Waiting.class);
      assertThat(seam.renew(here)).isEqualTo(held);
      assertThat(inTheEnd(seam, unreachable)).isInstanceOf(Standing.Held.class);
    }
  }
}
