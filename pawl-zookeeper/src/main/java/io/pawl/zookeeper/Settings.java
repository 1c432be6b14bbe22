package io.pawl.zookeeper;

import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
import io.pawl.spi.UrlParts;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.apache.zookeeper.common.X509Exception.SSLContextException;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * A URL taken apart; {@link ZooKeeperProvider} has the grammar.
 *
 * @param shown the URL without user and parameters
 * @param hosts {@code host:port,host:port}
 * @param base the node below which everything is, without a slash at its end
 * @param tick null if the URL does not say it
 */
record Settings(
    String shown,
    String hosts,
    String base,
    @Nullable String user,
    @Nullable String password,
    Duration timeout,
    @Nullable Duration tick,
    Map<String, String> parameters) {

  static final Set<String> SCHEMES = Set.of("zk", "zookeeper");

  private static final String DEFAULT_BASE = "/pawl";
  private static final int DEFAULT_PORT = 2181;

  private static final Set<String> PARAMETERS =
      Set.of(
          "timeout",
          "tick",
          "tls",
          "trustStore",
          "trustStorePassword",
          "keyStore",
          "keyStorePassword");

  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9_.-]+)(?::(\\d{1,5}))?");

  private static final Pattern BASE = Pattern.compile("(/[A-Za-z0-9_.-]+)+");

  /** Bytes; the client's own bound, 1 MB, is too small for the names of 20,000 waiters or locks. */
  private static final int LARGEST_ANSWER = 64 << 20;

  private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration SHORTEST = Duration.ofMillis(10);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /**
   * @throws IllegalArgumentException naming the part that cannot be right, never the password
   */
  static Settings parse(StoreUrl url) {
    UrlParts parts = UrlParts.of(url);
    if (!url.rest().startsWith("//") || (parts.path() + parts.query()).indexOf('#') >= 0) {
      throw url.wrong(
          "is not zk://[user:password@]host[:port][,host[:port]…][/node]; encode / ? # and @ in a"
              + " password as %2F %3F %23 %40");
    }
    if ((parts.user() == null) != (parts.password() == null)) {
      throw url.wrong("has a user without a password; write user:password@");
    }
    if (parts.user() != null && (parts.user().isEmpty() || parts.user().indexOf(':') >= 0)) {
      throw url.wrong("has a user that is empty or contains a colon, which digests cannot have");
    }
    String hosts = hosts(url, parts.hosts());
    String base = base(url, parts.path());
    String shown = "zk://" + hosts + (base.equals(DEFAULT_BASE) ? "" : base);
    try {
      Map<String, String> parameters = UrlParameters.parse(parts.query(), PARAMETERS);
      UrlParameters.flag(parameters, "tls");
      Duration timeout = UrlParameters.duration(parameters, "timeout", DEFAULT_TIMEOUT);
      check("timeout", timeout);
      Duration tick = null;
      if (parameters.containsKey("tick")) {
        tick = UrlParameters.duration(parameters, "tick", DEFAULT_TIMEOUT);
        check("tick", tick);
      }
      return new Settings(
          shown, hosts, base, parts.user(), parts.password(), timeout, tick, parameters);
    } catch (IllegalArgumentException e) {
      // its cause could quote a password
      throw new IllegalArgumentException("store URL '" + shown + "': " + e.getMessage());
    }
  }

  private static void check(String name, Duration value) {
    if (value.compareTo(SHORTEST) < 0 || value.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          name + " " + value.toMillis() + "ms is not between 10ms and 1m");
    }
  }

  private static String hosts(StoreUrl url, String text) {
    StringBuilder hosts = new StringBuilder();
    for (String each : text.split(",", -1)) {
      Matcher host = HOST.matcher(each);
      if (!host.matches()) {
        throw url.wrong("names no host, or one that cannot be"); // it may be a password
      }
      hosts.append(hosts.isEmpty() ? "" : ",").append(host.group(1)).append(':');
      hosts.append(host.group(2) == null ? Integer.toString(DEFAULT_PORT) : host.group(2));
    }
    return hosts.toString();
  }

  private static String base(StoreUrl url, String path) {
    if (path.isEmpty() || path.equals("/")) {
      return DEFAULT_BASE;
    }
    if (!BASE.matcher(path).matches()
        || List.of(path.split("/", -1)).stream().anyMatch(part -> part.matches("\\.\\.?"))) {
      throw url.wrong(
          "what stands after the hosts is no node; write /name or /name/name of letters, digits,"
              + " '_', '.' and '-'");
    }
    return path;
  }

  /** Everybody, unless there are credentials: then nobody else. */
  List<ACL> acl() {
    return user == null ? Ids.OPEN_ACL_UNSAFE : Ids.CREATOR_ALL_ACL;
  }

  byte @Nullable [] digest() {
    return user == null ? null : (user + ":" + password).getBytes(StandardCharsets.UTF_8);
  }

  boolean isTls() {
    return UrlParameters.flag(parameters, "tls");
  }

  /**
   * Returns what connections of TLS are made with.
   *
   * @throws StoreConfigurationException where files of the URL cannot be used, of which ZooKeeper's
   *     client says nothing but in its log, at each connection
   */
  SSLContext tls() {
    try (ClientX509Util files = new ClientX509Util()) {
      return files.createSSLContext(clientConfig());
    } catch (SSLContextException e) {
      throw new StoreConfigurationException(
          shown
              + ": trustStore or keyStore cannot be used ("
              + root(e)
              + "); correct the path, which ends in .jks, .p12 or .pem, or the password",
          e);
    }
  }

  private static Throwable root(Throwable error) {
    Throwable root = error;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root;
  }

  ZKClientConfig clientConfig() {
    ZKClientConfig config = new ZKClientConfig();
    config.setProperty(ZKClientConfig.JUTE_MAXBUFFER, Integer.toString(LARGEST_ANSWER));
    if (isTls()) {
      config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
      config.setProperty(
          ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET,
          "org.apache.zookeeper.ClientCnxnSocketNetty");
      set(config, "zookeeper.ssl.trustStore.location", "trustStore");
      set(config, "zookeeper.ssl.trustStore.password", "trustStorePassword");
      set(config, "zookeeper.ssl.keyStore.location", "keyStore");
      set(config, "zookeeper.ssl.keyStore.password", "keyStorePassword");
    }
    return config;
  }

  private void set(ZKClientConfig config, String property, String parameter) {
    String value = parameters.get(parameter);
    if (value != null) {
      config.setProperty(property, value);
    }
  }

  @Override
  public String toString() {
    return shown;
  }
}
