package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.protocol.RedisHandshakeHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Certificates;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisSentinels;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.servers.RespConnection;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each way not to connect has one exception that says where, and what to change. */
class ConnectErrorsTest {

  private static void refused(
      String url, Class<? extends StoreException> kind, String where, String advice) {
    assertThatThrownBy(() -> RedisStore.connect(url))
        .isExactlyInstanceOf(kind)
        .hasMessageContaining(where)
        .hasMessageContaining(advice);
  }

  private static String where(RedisServer server) {
    return server.host() + ":" + server.port();
  }

  @Test
  void nobodyThere() {
    RedisServer server = RedisServer.start();
    String where = where(server);
    server.close();
    refused("redis://" + where, StoreUnavailableException.class, where, "is it running");
    refused("redis-cluster://" + where, StoreUnavailableException.class, where, "cannot be");
    refused(
        "redis-sentinel://" + where + "?master=m",
        StoreUnavailableException.class,
        where,
        "cannot be");
    refused(
        "redis://no-such-host.invalid", StoreUnavailableException.class, "no-such-host", "host");
  }

  @Test
  void nobodyAnswers() {
    try (RedisServer server = RedisServer.start();
        FaultProxy proxy = FaultProxy.before(server)) {
      proxy.cut();
      String where = proxy.host() + ":" + proxy.port();
      refused(
          "redis://" + where + "?timeout=200ms",
          StoreUnavailableException.class,
          where,
          "firewall");
    }
  }

  @Test
  void tooManyClients() throws IOException {
    try (RedisServer server = RedisServer.start();
        RespConnection only = server.connect()) {
      only.call("CONFIG", "SET", "maxclients", "1");
      refused(
          "redis://" + where(server),
          StoreUnavailableException.class,
          where(server),
          "raise maxclients");
    }
  }

  @Test
  void wrongPasswordOrNone() {
    try (RedisServer server = RedisServer.setup().password("right").start()) {
      String where = where(server);
      refused("redis://:wrong@" + where, StoreDeniedException.class, where, "before the @");
      refused("redis://no:right@" + where, StoreDeniedException.class, where, "before the @");
      refused("redis://" + where, StoreDeniedException.class, where, "wants a password");
    }
  }

  @Test
  void plainTextAgainstTlsAndTlsAgainstPlainText() {
    try (RedisServer tls = RedisServer.setup().tls().start();
        RedisServer plain = RedisServer.start()) {
      assertThatThrownBy(() -> RedisStore.connect("redis://" + where(tls) + "?timeout=500ms"))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(where(tls))
          .hasMessageContaining("rediss://");
      assertThatThrownBy(() -> RedisStore.connect("rediss://" + where(plain) + "?timeout=500ms"))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(where(plain))
          .hasMessageContaining("plain text");
      refused("rediss://" + where(tls), StoreConfigurationException.class, where(tls), "trust");
    }
  }

  @Test
  void tlsToAClusterThatIsNotTrustedOrSpeaksPlainText() {
    try (RedisCluster tls = RedisCluster.start(RedisServer.Setup::tls);
        RedisCluster plain = RedisCluster.start(Flavour.REDIS)) {
      for (RedisCluster cluster : List.of(tls, plain)) {
        refused(
            Urls.of(cluster) + "?tls=true&timeout=1s",
            StoreConfigurationException.class,
            where(cluster.nodes().get(0)),
            "failed at TLS");
      }
    }
  }

  @Test
  void aPasswordOfTheSentinels() {
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofSeconds(5))) {
      RedisServer sentinel = group.sentinels().get(0);
      sentinel.call("ACL", "SETUSER", "default", "resetpass", ">right");
      String where = where(sentinel);
      String url = "redis-sentinel://" + where + "?master=" + RedisSentinels.NAME;
      refused(url, StoreDeniedException.class, where, "write sentinelPassword=");
      String wrong = url + "&sentinelPassword=wrong";
      refused(wrong, StoreDeniedException.class, where, "correct sentinelUser=");
      RedisStore.connect(url + "&sentinelPassword=right").close();
      RedisStore.connect(url + "&sentinelUser=default&sentinelPassword=right").close();

      group.primary().call("ACL", "SETUSER", "default", "resetpass", ">data");
      String right = url + "&sentinelPassword=right";
      refused(right, StoreDeniedException.class, where, "before the host");
    }
  }

  /** As where the server has closed the connection before the thread that dials looks at it. */
  @Test
  void whereLettuceHasLostTheReasonTheServerIsAskedAgain() {
    AtomicInteger lost = new AtomicInteger(2);
    NettyCustomizer losing =
        new NettyCustomizer() {
          @Override
          public void afterChannelInitialized(Channel channel) {
            if (lost.getAndDecrement() > 0) {
              channel.pipeline().remove(RedisHandshakeHandler.class);
            }
          }
        };
    ClientResources resources = ClientResources.builder().nettyCustomizer(losing).build();
    try (RedisServer server = RedisServer.setup().password("right").start();
        RedisClient client = RedisClient.create(resources)) {
      RedisURI wrong = RedisURI.create(server.host(), server.port());
      wrong.setCredentialsProvider(new StaticCredentialsProvider(null, "wrong".toCharArray()));
      assertThatThrownBy(() -> RedisStore.over(client, wrong, RedisOptions.defaults()))
          .isInstanceOf(StoreDeniedException.class);
      assertThat(lost.get()).isNegative();
    } finally {
      resources.shutdown(0, 0, TimeUnit.SECONDS);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"trustStore", "trustPem"})
  void tlsWithATrustStoreOfItsOwnWorks(String kind) {
    try (RedisServer server = RedisServer.setup().tls().password("p@ss/wörd").start()) {
      Certificates certificates = server.certificates();
      String trust =
          kind.equals("trustPem")
              ? "trustPem=" + certificates.certificatePem()
              : "trustStore=" + certificates.trustStore() + "&trustStorePassword=changeit";
      try (RedisStore store = RedisStore.connect(server.url() + "?" + trust)) {
        new Seam(store).take(new Seam(store).claim("tls"));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "trustStore={trusted}&trustStorePassword=canary",
        "trustStore={key}",
        "trustPem={key}",
        "trustPem=/",
        "trustPem={certificate}&keyStore={pair}&keyStorePassword=canary",
        "trustPem={certificate}&keyStore={key}"
      })
  void filesThatCannotBeUsed(String files) {
    try (RedisServer server = RedisServer.setup().tls().start()) {
      Certificates certificates = server.certificates();
      String named =
          files
              .replace("{trusted}", certificates.trustStore().toString())
              .replace("{pair}", certificates.keyStore().toString())
              .replace("{certificate}", certificates.certificatePem().toString())
              .replace("{key}", certificates.keyPem().toString());
      String where = where(server);
      for (String url :
          List.of(
              "rediss://" + where + "?",
              "redis-cluster://" + where + "?tls=true&",
              "redis-sentinel://" + where + "?tls=true&master=m&")) {
        refused(url + named, StoreConfigurationException.class, where, "correct the path");
      }
    }
  }

  @Test
  void aReplicaOrAnythingButAPrimary() {
    try (RedisServer primary = RedisServer.start();
        RedisServer replica = RedisServer.setup().replicaOf(primary).start()) {
      refused(
          "redis://" + where(replica),
          StoreConfigurationException.class,
          where(replica),
          "primary");
      refused(
          "redis-cluster://" + where(primary),
          StoreConfigurationException.class,
          where(primary),
          "redis://");
      refused(
          "redis://" + where(primary) + "/99",
          StoreConfigurationException.class,
          where(primary),
          "database");
    }
  }

  @Test
  void aNodeOfAClusterOrASentinelGivenAsAServer() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS)) {
      RedisServer node = cluster.nodes().get(0);
      refused(
          "redis://" + where(node),
          StoreConfigurationException.class,
          where(node),
          "redis-cluster://");
    }
    try (RedisSentinels group = RedisSentinels.start(Flavour.REDIS, Duration.ofSeconds(5))) {
      RedisServer sentinel = group.sentinels().get(0);
      refused(
          "redis://" + where(sentinel),
          StoreConfigurationException.class,
          where(sentinel),
          "redis-sentinel://");
      assertThatThrownBy(
              () -> RedisStore.connect("redis-sentinel://" + where(sentinel) + "?master=other"))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("other");
    }
  }

  @Test
  void serversThatAreTooOld() {
    Failures failures = new Failures("redis://h:1");
    for (Map<String, String> old :
        java.util.List.of(
            Map.of("server", "redis", "version", "6.2.21"),
            Map.of("server", "redis", "version", "6.3.4"),
            Map.of("server", "redis", "version", "5.0"),
            Map.of("server", "valkey", "version", "7.2.9"))) {
      assertThatThrownBy(() -> Handshake.check(old, "standalone", failures))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining(old.get("version"))
          .hasMessageContaining("Redis 7.0 or newer");
    }
    Handshake.check(Map.of("server", "redis", "version", "7.0.0"), "standalone", failures);
    Handshake.check(Map.of("server", "redis", "version", "7.2.4"), "standalone", failures);
    Handshake.check(Map.of("server", "valkey", "version", "8.0.0-rc1"), "standalone", failures);
    Handshake.check(Map.of("server", "redis", "version", "10.1"), "standalone", failures);
  }

  @ParameterizedTest
  @ValueSource(strings = {"HTTP/1.1 400 Bad Request\r\n\r\n", "$2147483647\r\n", "*2147483647\r\n"})
  void whatAnswersGarbageIsNamed(String garbage) throws IOException {
    try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread answering = new Thread(() -> answer(listener, garbage));
      answering.start();
      String where = "127.0.0.1:" + listener.getLocalPort();
      assertThatThrownBy(() -> RedisStore.connect("redis://" + where + "?timeout=300ms"))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(where);
    }
  }

  private static void answer(ServerSocket listener, String garbage) {
    try {
      while (true) {
        Socket client = listener.accept();
        OutputStream out = client.getOutputStream();
        out.write(garbage.getBytes(java.nio.charset.StandardCharsets.UTF_8));
        out.flush();
      }
    } catch (IOException e) {
      assertThat(listener.isClosed()).isTrue();
    }
  }
}
