package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.SlotHash;
import io.pawl.error.StaleTokenException;
import io.pawl.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The server refuses values of holders that were superseded. */
class RedisFenceTest {

  private static RedisServer server;
  private static RedisClient client;
  private static RedisCommands<String, String> redis;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
    client = RedisClient.create(server.url());
    redis = client.connect().sync();
  }

  @AfterAll
  static void stop() {
    client.shutdown();
    server.close();
  }

  private final RedisFence fence = new RedisFence(redis, Duration.ofHours(1));

  @Test
  void aValueUnderASmallerTokenIsNotWritten() {
    fence.set("value", "first", 7);
    fence.set("value", "again", 7);
    fence.set("value", "next", 9_007_199_254_740_991L);
    assertThatThrownBy(() -> fence.set("value", "stale", 9_007_199_254_740_990L))
        .isInstanceOf(StaleTokenException.class)
        .hasMessageContaining("'value'");
    assertThat(redis.get("value")).isEqualTo("next");
    fence.set("other", "of its own", 1);
  }

  @Test
  void aTokenAloneIsAcceptedOrRefused() {
    fence.accept("alone", 9);
    fence.accept("alone", 10);
    assertThatThrownBy(() -> fence.accept("alone", 9)).isInstanceOf(StaleTokenException.class);
    fence.accept("alone", 11);
    assertThatThrownBy(() -> fence.accept("alone", 4)).isInstanceOf(StaleTokenException.class);
    assertThatThrownBy(() -> fence.set("alone", "x", 4)).isInstanceOf(StaleTokenException.class);
    assertThat(redis.exists("alone")).isZero();
  }

  @Test
  void aStaleTokenIsNotTakenForAcceptedInATransaction() {
    fence.set("together", "newer", 9);
    try (StatefulRedisConnection<String, String> another = client.connect()) {
      RedisFence unsure = new RedisFence(another.sync(), Duration.ofHours(1));
      another.sync().multi();

      assertThatThrownBy(() -> unsure.set("together", "stale", 8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("transaction");
      assertThatThrownBy(() -> unsure.accept("together", 8))
          .isInstanceOf(IllegalStateException.class);

      another.sync().discard();
      assertThatThrownBy(() -> unsure.accept("together", 8))
          .isInstanceOf(StaleTokenException.class);
    }
    assertThat(redis.get("together")).isEqualTo("newer");
  }

  @Test
  void theFencesKeyExpiresAndItsScriptIsLoadedAgain() {
    fence.set("expires", "x", 5);
    assertThat(redis.pttl(RedisFence.fenceOf("expires"))).isBetween(1L, 3_600_000L);
    redis.scriptFlush();
    assertThatThrownBy(() -> fence.set("expires", "y", 4)).isInstanceOf(StaleTokenException.class);
  }

  @Test
  void fenceAndValueShareASlotAndNoTwoKeysShareAFence() {
    List<String> keys = List.of("a", "{a}b", "b{a}", "a{", "x{y}z{w}", "{{a}}");
    for (String key : keys) {
      assertThat(SlotHash.getSlot(RedisFence.fenceOf(key)))
          .as(key)
          .isEqualTo(SlotHash.getSlot(key));
    }
    assertThat(keys.stream().map(RedisFence::fenceOf).distinct()).hasSize(keys.size());
  }

  @Test
  void whatCannotBeIsRefusedBeforeItIsSent() {
    assertThatThrownBy(() -> fence.set("", "x", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.set("a}", "x", 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> fence.set("a", "x", 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new RedisFence(redis, Duration.ZERO))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
