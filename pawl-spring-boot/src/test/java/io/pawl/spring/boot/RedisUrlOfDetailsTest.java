package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Each way in which Boot can describe a Redis, as a URL of Pawl's. */
class RedisUrlOfDetailsTest {

  private static String url(String... properties) {
    String[] url = new String[1];
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(SslAutoConfiguration.class, DataRedisAutoConfiguration.class))
        .withPropertyValues(properties)
        .run(
            context ->
                url[0] =
                    RedisStoreSource.url(
                        context.getBean(DataRedisConnectionDetails.class),
                        context.getEnvironment().getProperty("spring.data.redis.url")));
    return url[0];
  }

  @Test
  void oneServer() {
    assertThat(url()).isEqualTo("redis://localhost:6379/0");
    assertThat(
            url(
                "spring.data.redis.host=::1",
                "spring.data.redis.port=7000",
                "spring.data.redis.database=3",
                "spring.data.redis.username=me",
                "spring.data.redis.password=a b@c",
                "spring.data.redis.ssl.enabled=true"))
        .isEqualTo("rediss://me:a%20b%40c@[::1]:7000/3");
    assertThat(url("spring.data.redis.password=secret"))
        .isEqualTo("redis://:secret@localhost:6379/0");
  }

  /** Of whose scheme the details do not tell. */
  @Test
  void aUrlThatIsEncryptedStaysSo() {
    assertThat(url("spring.data.redis.url=rediss://me:secret@cache:6380"))
        .isEqualTo("rediss://me:secret@cache:6380/0");
    assertThat(url("spring.data.redis.url=redis://cache:6380")).isEqualTo("redis://cache:6380/0");
  }

  @Test
  void sentinels() {
    assertThat(
            url(
                "spring.data.redis.sentinel.master=main",
                "spring.data.redis.sentinel.nodes=a:1,b:2",
                "spring.data.redis.sentinel.password=s",
                "spring.data.redis.password=p",
                "spring.data.redis.ssl.enabled=true"))
        .isEqualTo("redis-sentinel://:p@a:1,b:2/0?master=main&tls=true&sentinelPassword=s");
  }

  @Test
  void aCluster() {
    assertThat(url("spring.data.redis.cluster.nodes=a:1,b:2")).isEqualTo("redis-cluster://a:1,b:2");
  }

  /** Boot takes user, password and TLS of the URL, and the nodes from beside it. */
  @Test
  void aUrlThatIsEncryptedStaysSoWhereNodesAreNamedBesideIt() {
    assertThat(
            url(
                "spring.data.redis.url=rediss://me:secret@cache:6380",
                "spring.data.redis.cluster.nodes=a:1"))
        .isEqualTo("redis-cluster://me:secret@a:1?tls=true");
    assertThat(
            url(
                "spring.data.redis.url=rediss://me:secret@cache:6380",
                "spring.data.redis.sentinel.master=main",
                "spring.data.redis.sentinel.nodes=a:1"))
        .isEqualTo("redis-sentinel://me:secret@a:1/0?master=main&tls=true");
  }

  @Test
  void whatNoUrlCanSayIsRefused() {
    assertThatThrownBy(() -> url("spring.data.redis.masterreplica.nodes=a:1,b:2"))
        .isInstanceOf(NoStoreException.class)
        .hasMessageContaining("replicas");
  }
}
