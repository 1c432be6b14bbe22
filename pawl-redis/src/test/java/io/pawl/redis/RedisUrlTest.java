package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.spi.StoreUrl;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RedisUrlTest {

  private static RedisUrl parse(String url) {
    return RedisUrl.parse(StoreUrl.parse(url));
  }

  @Test
  void everyPartIsRead() {
    RedisUrl url =
        parse(
            "valkeys://us%65r:p%40s+s@[::1]:7000/3?timeout=500ms&waitReplicas=2&waitTimeout=100ms");
    assertThat(url.kind()).isEqualTo("single");
    assertThat(url.tls()).isTrue();
    assertThat(url.user()).isEqualTo("user");
    assertThat(url.password()).isEqualTo("p@s+s");
    assertThat(url.addresses()).hasToString("[[::1]:7000]");
    assertThat(url.database()).isEqualTo(3);
    assertThat(url.options())
        .isEqualTo(
            new RedisOptions(
                Duration.ofMillis(500), 2, Duration.ofMillis(100), Duration.ofDays(1)));
    assertThat(url.toString()).isEqualTo("valkeys://[::1]:7000/3");
  }

  @Test
  void aPasswordMayHaveAnAtAsItIs() {
    RedisUrl url = parse("redis://user:p@ss@host");
    assertThat(url.password()).isEqualTo("p@ss");
    assertThat(url.toString()).isEqualTo("redis://host:6379");
  }

  @Test
  void sentinelsAndNodesHaveTheirPorts() {
    assertThat(parse("redis-sentinel://a,b:1/2?master=m&tls=true").toString())
        .isEqualTo("redis-sentinel://a:26379,b:1/2?master=m");
    assertThat(parse("valkey-cluster://a,b:1").toString()).isEqualTo("valkey-cluster://a:6379,b:1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "redis://canary@host",
        "redis://:canary@",
        "redis://:canary@ho st",
        "redis://:canary@host:0",
        "redis://:canary@host:65536",
        "redis://:canary@host/one",
        "redis://:canary@a,b",
        "redis://:canary%@host",
        "redis://:can/ary@host",
        "redis://:ca/canary@host",
        "redis://:canary/ry@host",
        "redis://:ca?canary@host",
        "redis://:ca#canary@host",
        "redis://:canary#ry@host",
        "redis://:ca%zzcanary@host",
        "redis://user:canary",
        "redis://user:canary/0",
        "redis://user:12/canary",
        "redis://:canary",
        "redis://h/canary",
        "redis://h#canary",
        "redis-cluster://:ca/canary@a:1,b:2",
        "redis-cluster://a:1,user:canary",
        "redis-sentinel://user:canary?master=m",
        "redis-sentinel://h?master=m;sentinelPassword=canary",
        "redis-sentinel://h?master=m&sentinelPassword=a&canary",
        "redis-sentinel://h?master=m&sentinelPassword=a&canary=1",
        "redis-sentinel://h?master=m&sentinelPassword=a%zzcanary",
        "redis-sentinel://h?master=m&sentinelUser=canary",
        "redis-cluster://:canary@host/1",
        "redis-sentinel://:canary@host",
        "redis://:canary@host?canary=1&timeout",
        "redis://:canary@host?timeout=5",
        "redis://:canary@host?timeout=5s&timeout=5s",
        "redis://:canary@host?timeout=1ms",
        "redis://:canary@host?waitReplicas=1&waitTimeout=9s",
        "redis://:canary@host?tls=maybe",
        "rediss://host?trustStore=/a;trustStorePassword=canary",
        "redis:host"
      })
  void whatCannotBeRightIsRefusedWithoutThePassword(String url) {
    assertThatThrownBy(() -> parse(url.replace("?canary=1", "?unknown=1")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("store URL 'redis")
        .hasMessageNotContaining("canary")
        .hasNoCause();
  }
}
