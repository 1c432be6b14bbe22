package io.pawl.spring.boot;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.ssl.SslBundle;

/** The Redis of the application's connection details, over connections of Pawl's own. */
final class RedisStoreSource implements StoreSource {

  private final ObjectProvider<DataRedisConnectionDetails> details;
  private final @Nullable String configuredUrl;

  /**
   * @param configuredUrl {@code spring.data.redis.url}, of which the details do not tell the scheme
   */
  RedisStoreSource(
      ObjectProvider<DataRedisConnectionDetails> details, @Nullable String configuredUrl) {
    this.details = details;
    this.configuredUrl = configuredUrl;
  }

  @Override
  public StoreChoice choice() {
    return StoreChoice.REDIS;
  }

  @Override
  public Optional<LockStore> open() {
    DataRedisConnectionDetails found = details.getIfUnique();
    return found == null
        ? Optional.empty()
        : Optional.of(Stores.open(StoreUrl.parse(url(found, configuredUrl))));
  }

  /**
   * @throws NoStoreException for details that no URL can say
   */
  static String url(DataRedisConnectionDetails details, @Nullable String configuredUrl) {
    if (details.getMasterReplica() != null) {
      throw cannotBeUsed("a primary with fixed replicas");
    }
    boolean tls = tls(details.getSslBundle());
    boolean tlsOfGroup = tls || "rediss".equalsIgnoreCase(scheme(configuredUrl));
    String user = user(details.getUsername(), details.getPassword());
    Sentinel sentinel = details.getSentinel();
    if (sentinel != null) {
      return "redis-sentinel://"
          + user
          + nodes(sentinel.getNodes())
          + "/"
          + sentinel.getDatabase()
          + "?master="
          + encoded(sentinel.getMaster())
          + (tlsOfGroup ? "&tls=true" : "")
          + parameter("sentinelUser", sentinel.getUsername())
          + parameter("sentinelPassword", sentinel.getPassword());
    }
    Cluster cluster = details.getCluster();
    if (cluster != null) {
      return "redis-cluster://"
          + user
          + nodes(cluster.getNodes())
          + (tlsOfGroup ? "?tls=true" : "");
    }
    Standalone one = details.getStandalone();
    if (one == null) {
      throw cannotBeUsed("no server");
    }
    return (tls || isTls(configuredUrl, one) ? "rediss://" : "redis://")
        + user
        + host(one.getHost())
        + ":"
        + one.getPort()
        + "/"
        + one.getDatabase();
  }

  /** Sentinels and nodes are named beside the URL, of which Boot takes the rest. */
  private static @Nullable String scheme(@Nullable String configuredUrl) {
    try {
      return URI.create(configuredUrl == null ? "" : configuredUrl).getScheme();
    } catch (IllegalArgumentException e) {
      return null; // Boot refuses it where it counts
    }
  }

  /** Details that come from elsewhere, as from a container, have another port. */
  private static boolean isTls(@Nullable String configuredUrl, Standalone one) {
    URI url;
    try {
      url = URI.create(configuredUrl == null ? "" : configuredUrl);
    } catch (IllegalArgumentException e) {
      return false; // Boot refuses it where it counts
    }
    return "rediss".equalsIgnoreCase(url.getScheme())
        && one.getHost().equals(url.getHost())
        && one.getPort() == url.getPort();
  }

  private static boolean tls(@Nullable SslBundle bundle) {
    if (bundle == null) {
      return false;
    }
    if (bundle.getStores().getKeyStore() != null || bundle.getStores().getTrustStore() != null) {
      throw cannotBeUsed("an SSL bundle");
    }
    return true;
  }

  private static NoStoreException cannotBeUsed(String what) {
    return new NoStoreException(
        "Pawl has no store: the application's Redis has " + what + ", of which Pawl cannot tell.",
        "Set pawl.url, with trustStore or trustPem for certificates: see docs/REDIS.md.");
  }

  private static String user(@Nullable String name, @Nullable String password) {
    if (password == null || password.isEmpty()) {
      return "";
    }
    return (name == null ? "" : encoded(name)) + ":" + encoded(password) + "@";
  }

  private static String nodes(List<Node> nodes) {
    return nodes.stream()
        .map(node -> host(node.host()) + ":" + node.port())
        .collect(Collectors.joining(","));
  }

  private static String host(String host) {
    return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  private static String parameter(String name, @Nullable String value) {
    return value == null || value.isEmpty() ? "" : "&" + name + "=" + encoded(value);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
