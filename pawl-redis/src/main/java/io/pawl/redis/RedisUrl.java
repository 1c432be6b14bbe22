package io.pawl.redis;

import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
import io.pawl.spi.UrlParts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL taken apart; {@link RedisProvider} has the grammar.
 *
 * @param kind {@code single}, {@code sentinel} or {@code cluster}
 * @param user the default one is empty
 * @param password null where there is none
 */
record RedisUrl(
    String shown,
    String kind,
    boolean tls,
    String user,
    @Nullable String password,
    List<Address> addresses,
    int database,
    RedisOptions options,
    Map<String, String> parameters) {

  /** Where a server listens. */
  record Address(String host, int port) {
    @Override
    public String toString() {
      return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
  }

  static final Set<String> SCHEMES =
      Set.of(
          "redis",
          "rediss",
          "redis-sentinel",
          "redis-cluster",
          "valkey",
          "valkeys",
          "valkey-sentinel",
          "valkey-cluster");

  private static final Set<String> PARAMETERS =
      Set.of(
          "timeout",
          "waitReplicas",
          "waitTimeout",
          "keepIds",
          "tls",
          "trustStore",
          "trustStorePassword",
          "trustPem",
          "keyStore",
          "keyStorePassword",
          "verify",
          "master",
          "sentinelUser",
          "sentinelPassword");

  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9_.-]+)(?::(\\d{1,5}))?");

  /**
   * @throws IllegalArgumentException naming the part that cannot be right, never the password
   */
  static RedisUrl parse(StoreUrl url) {
    String scheme = url.scheme();
    UrlParts parts = UrlParts.of(url);
    if (!url.rest().startsWith("//") || (parts.path() + parts.query()).indexOf('#') >= 0) {
      throw wrong(
          scheme,
          "is not "
              + scheme
              + "://[user[:password]@]host[:port]; encode / ? # and @"
              + " in a password as %2F %3F %23 %40");
    }
    String path = parts.path().isEmpty() ? "" : parts.path().substring(1);
    String kind =
        scheme.endsWith("-sentinel")
            ? "sentinel"
            : scheme.endsWith("-cluster") ? "cluster" : "single";
    Map<String, String> parameters = parameters(scheme, parts.query());
    boolean tls =
        scheme.equals("rediss") || scheme.equals("valkeys") || flag(scheme, parameters, "tls");
    if (parts.user() != null && parts.password() == null) {
      throw wrong(scheme, "has a user without a password; write user:password@, or :password@");
    }
    List<Address> addresses = addresses(scheme, kind, parts.hosts());
    int database = database(scheme, kind, path);
    String shown = shown(scheme, addresses, path, parameters);
    if (kind.equals("sentinel") && !parameters.containsKey("master")) {
      throw wrong(shown, "lacks master=<the name by which the Sentinels know the primary>");
    }
    if (parameters.containsKey("sentinelUser") && !parameters.containsKey("sentinelPassword")) {
      throw wrong(shown, "has a sentinelUser without a sentinelPassword");
    }
    return new RedisUrl(
        shown,
        kind,
        tls,
        parts.user() == null ? "" : parts.user(),
        parts.password(),
        addresses,
        database,
        options(shown, parameters),
        parameters);
  }

  private static String shown(
      String scheme, List<Address> addresses, String path, Map<String, String> parameters) {
    String hosts = String.join(",", addresses.stream().map(Address::toString).toList());
    String database = path.isEmpty() ? "" : "/" + path;
    String master = parameters.containsKey("master") ? "?master=" + parameters.get("master") : "";
    return scheme + "://" + hosts + database + master;
  }

  private static List<Address> addresses(String scheme, String kind, String hosts) {
    List<Address> addresses = new ArrayList<>();
    int standard = kind.equals("sentinel") ? 26379 : 6379;
    for (String each : hosts.split(",", -1)) {
      Matcher host = HOST.matcher(each);
      if (!host.matches()) {
        throw wrong(scheme, "names no host, or one that cannot be"); // it may be a password
      }
      int port = host.group(2) == null ? standard : Integer.parseInt(host.group(2));
      addresses.add(new Address(host.group(1).replaceAll("[\\[\\]]", ""), port));
    }
    if (kind.equals("single") && addresses.size() > 1) {
      throw wrong(
          scheme, "names several hosts; write redis-sentinel:// or redis-cluster:// for those");
    }
    return addresses;
  }

  private static int database(String scheme, String kind, String path) {
    if (path.isEmpty()) {
      return 0;
    }
    if (!path.matches("\\d{1,6}")) {
      throw wrong(scheme, "what stands after the / is no database's number");
    }
    int database = Integer.parseInt(path);
    if (kind.equals("cluster") && database != 0) {
      throw wrong(scheme, "a Cluster has no database but 0");
    }
    return database;
  }

  private static Map<String, String> parameters(String scheme, String query) {
    try {
      return UrlParameters.parse(query, PARAMETERS);
    } catch (IllegalArgumentException e) {
      throw wrong(scheme, String.valueOf(e.getMessage()));
    }
  }

  private static RedisOptions options(String shown, Map<String, String> parameters) {
    RedisOptions options = RedisOptions.defaults();
    try {
      options = options.timeout(UrlParameters.duration(parameters, "timeout", options.timeout()));
      options = options.keepIds(UrlParameters.duration(parameters, "keepIds", options.keepIds()));
      Duration wait = UrlParameters.duration(parameters, "waitTimeout", options.waitTimeout());
      String replicas = parameters.getOrDefault("waitReplicas", "0");
      if (!replicas.matches("\\d{1,3}")) {
        throw new IllegalArgumentException("waitReplicas '" + replicas + "' is not a number");
      }
      int count = Integer.parseInt(replicas);
      return count == 0 ? options : options.waitReplicas(count, wait);
    } catch (IllegalArgumentException e) {
      throw wrong(shown, String.valueOf(e.getMessage()));
    }
  }

  private static boolean flag(String scheme, Map<String, String> parameters, String name) {
    try {
      return UrlParameters.flag(parameters, name);
    } catch (IllegalArgumentException e) {
      throw wrong(scheme, String.valueOf(e.getMessage()));
    }
  }

  /** The cause of an inner exception could quote the password; it is not kept. */
  static IllegalArgumentException wrong(String shown, String what) {
    return new IllegalArgumentException("store URL '" + shown + "': " + what);
  }

  @Override
  public String toString() {
    return shown;
  }
}
