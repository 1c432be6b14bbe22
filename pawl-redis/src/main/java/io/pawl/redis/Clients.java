package io.pawl.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisReactiveCommandsImpl;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.SslVerifyMode;
import io.lettuce.core.StatefulRedisConnectionImpl;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.protocol.PushHandler;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.pawl.error.StoreConfigurationException;
import io.pawl.redis.RedisUrl.Address;
import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Lettuce clients of our own, set up so that a command fails rather than waits unseen. */
final class Clients {

  /** Commands under way or waiting for the socket; beyond it they fail at once. */
  private static final int MOST_UNDER_WAY = 200_000;

  private static final int THREADS = 2;

  private Clients() {}

  /** Nothing is left where the URL names files that cannot be read. */
  static Servers open(RedisUrl url) {
    List<RedisURI> uris = uris(url);
    List<String> addresses = url.addresses().stream().map(Address::toString).toList();
    if (url.kind().equals("cluster")) {
      ClusterClientOptions options = clusterOptions(url);
      RedisClusterClient client = RedisClusterClient.create(resources(), uris);
      client.setOptions(options);
      return new ManyServers(client, true, addresses, url.toString());
    }
    ClientOptions options = options(ClientOptions.builder(), url).build();
    RedisClient client = new LeanClient(resources());
    client.setOptions(options);
    return new OneServer(client, uris.get(0), true, addresses, url.toString());
  }

  private static ClientResources resources() {
    return ClientResources.builder()
        .ioThreadPoolSize(THREADS)
        .computationThreadPoolSize(THREADS)
        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
        .reconnectDelay(
            Delay.exponential(
                Duration.ofMillis(5), Duration.ofSeconds(1), 2, TimeUnit.MILLISECONDS))
        .build();
  }

  private static List<RedisURI> uris(RedisUrl url) {
    if (!url.kind().equals("sentinel")) {
      return url.addresses().stream().map(address -> uri(url, address)).toList();
    }
    RedisURI.Builder servers = RedisURI.builder().withSentinelMasterId(parameter(url, "master"));
    for (Address address : url.addresses()) {
      RedisURI.Builder one = RedisURI.builder().withHost(address.host()).withPort(address.port());
      tls(one, url);
      String sentinelPassword = url.parameters().get("sentinelPassword");
      authenticate(one, url.parameters().getOrDefault("sentinelUser", ""), sentinelPassword);
      servers.withSentinel(one.withTimeout(url.options().timeout()).build());
    }
    return List.of(finished(servers, url));
  }

  private static RedisURI uri(RedisUrl url, Address address) {
    RedisURI.Builder one = RedisURI.builder().withHost(address.host()).withPort(address.port());
    return finished(one, url);
  }

  private static RedisURI finished(RedisURI.Builder builder, RedisUrl url) {
    tls(builder, url);
    authenticate(builder, url.user(), url.password());
    return builder
        .withDatabase(url.database())
        .withTimeout(url.options().timeout())
        .withClientName("pawl")
        .build();
  }

  private static void authenticate(
      RedisURI.Builder builder, String user, @Nullable String password) {
    if (password == null) {
      return;
    }
    if (user.isEmpty()) {
      builder.withPassword(password.toCharArray());
    } else {
      builder.withAuthentication(user, password.toCharArray());
    }
  }

  private static void tls(RedisURI.Builder builder, RedisUrl url) {
    if (!url.tls()) {
      return;
    }
    String verify = url.parameters().getOrDefault("verify", "full");
    SslVerifyMode mode =
        switch (verify) {
          case "full" -> SslVerifyMode.FULL;
          case "ca" -> SslVerifyMode.CA;
          default ->
              throw RedisUrl.wrong(
                  url.toString(), "verify '" + verify + "' is neither full nor ca");
        };
    builder.withSsl(true).withVerifyPeer(mode);
  }

  private static <B extends ClientOptions.Builder> B options(B options, RedisUrl url) {
    Duration timeout = url.options().timeout();
    options
        .autoReconnect(true)
        .replayFilter(command -> true) // a claim asks again itself, knowing what it does
        .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
        .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build()) // Wire does
        .requestQueueSize(MOST_UNDER_WAY)
        .socketOptions(
            SocketOptions.builder()
                .connectTimeout(timeout)
                .tcpNoDelay(true)
                .keepAlive(true)
                .build())
        .sslOptions(sslOptions(url));
    return options;
  }

  private static ClusterClientOptions clusterOptions(RedisUrl url) {
    ClusterClientOptions.Builder options = options(ClusterClientOptions.builder(), url);
    return options
        // it would also refuse the first command to each node, before there is a connection
        .disconnectedBehavior(DisconnectedBehavior.ACCEPT_COMMANDS)
        .topologyRefreshOptions(
            ClusterTopologyRefreshOptions.builder()
                .enableAllAdaptiveRefreshTriggers()
                .adaptiveRefreshTriggersTimeout(Duration.ofSeconds(1))
                .enablePeriodicRefresh(Duration.ofSeconds(10))
                .build())
        .build();
  }

  private static SslOptions sslOptions(RedisUrl url) {
    SslOptions.Builder ssl =
        SslOptions.builder().jdkSslProvider().handshakeTimeout(url.options().timeout());
    String trustStore = url.parameters().get("trustStore");
    String trustPem = url.parameters().get("trustPem");
    String keyStore = url.parameters().get("keyStore");
    if (trustStore != null) {
      ssl.truststore(
          file(url, "trustStore", trustStore),
          url.parameters().getOrDefault("trustStorePassword", ""));
    }
    if (trustPem != null) {
      ssl.trustManager(file(url, "trustPem", trustPem));
    }
    if (keyStore != null) {
      ssl.keystore(
          file(url, "keyStore", keyStore),
          url.parameters().getOrDefault("keyStorePassword", "").toCharArray());
    }
    boolean namesFiles = trustStore != null || trustPem != null || keyStore != null;
    return namesFiles ? readable(url, ssl.build()) : ssl.build();
  }

  /** Lettuce reads the files at each connection, and where it cannot no server is reached. */
  private static SslOptions readable(RedisUrl url, SslOptions ssl) {
    try {
      ssl.createSslContextBuilder();
      return ssl;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new StoreConfigurationException(
          "store '"
              + url
              + "': trustStore, trustPem or keyStore cannot be read ("
              + e.getClass().getSimpleName()
              + "); correct the path or the password",
          e);
    }
  }

  private static File file(RedisUrl url, String name, String path) {
    File file = new File(path);
    if (!file.isFile() || !file.canRead()) {
      throw new StoreConfigurationException(
          "store '" + url + "': " + name + " " + path + " cannot be read; correct the path");
    }
    return file;
  }

  private static String parameter(RedisUrl url, String name) {
    return url.parameters().getOrDefault(name, "");
  }

  /**
   * A client whose connections have no blocking and no reactive commands, which nobody here uses.
   * Lettuce makes both with each connection: the blocking ones are a proxy for some 700 methods,
   * which takes a fresh JVM a good part of its first second.
   */
  private static final class LeanClient extends RedisClient {

    LeanClient(ClientResources resources) {
      super(resources, new RedisURI());
    }

    @Override
    protected <K, V> StatefulRedisConnectionImpl<K, V> newStatefulRedisConnection(
        RedisChannelWriter writer, PushHandler pushes, RedisCodec<K, V> codec, Duration timeout) {
      return new StatefulRedisConnectionImpl<>(writer, pushes, codec, timeout) {
        @Override
        protected @Nullable RedisCommands<K, V> newRedisSyncCommandsImpl() {
          return null;
        }

        @Override
        protected @Nullable RedisReactiveCommandsImpl<K, V> newRedisReactiveCommandsImpl() {
          return null;
        }
      };
    }
  }
}
