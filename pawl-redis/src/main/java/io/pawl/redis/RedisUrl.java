package io.pawl.redis;

import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
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

  private static final Pattern REST =
      Pattern.compile("//(?:([^@/?#]*)@)?([^@/?#]*)(?:/([^?#]*))?(?:\\?([^#]*))?", Pattern.DOTALL);
  private static final Pattern HOST =
      Pattern.compile("(\\[[0-9A-Fa-f:.%]+\\]|[A-Za-z0-9_.-]+)(?::(\\d{1,5}))?");

  /**
   * @throws IllegalArgumentException naming the part that cannot be right, never the password
   */
  static RedisUrl parse(StoreUrl url) {
    String scheme = url.scheme();
    Matcher rest = REST.matcher(url.rest());
    if (!rest.matches()) {
      throw wrong(
          scheme,
          "is not "
              + scheme
              + "://[user[:password]@]host[:port]; encode / ? # and @"
              + " in a password as %2F %3F %23 %40");
    }
    String kind =
        scheme.endsWith("-sentinel")
            ? "sentinel"
            : scheme.endsWith("-cluster") ? "cluster" : "single";
    Map<String, String> parameters = parameters(scheme, rest.group(4));
    boolean tls =
        scheme.equals("rediss") || scheme.equals("valkeys") || flag(scheme, parameters, "tls");
    String userInfo = rest.group(1);
    int colon = userInfo == null ? -1 : userInfo.indexOf(':');
    if (userInfo != null && colon < 0) {
      throw wrong(scheme, "has a user without a password; write user:password@, or :password@");
    }
    List<Address> addresses = addresses(scheme, kind, rest.group(2));
    String shown = shown(scheme, addresses, rest.group(3), parameters);
    if (kind.equals("sentinel") && !parameters.containsKey("master")) {
      throw wrong(shown, "lacks master=<the name by which the Sentinels know the primary>");
    }
    return new RedisUrl(
        shown,
        kind,
        tls,
        userInfo == null ? "" : decoded(scheme, userInfo.substring(0, colon)),
        userInfo == null ? null : decoded(scheme, userInfo.substring(colon + 1)),
        addresses,
        database(shown, kind, rest.group(3)),
        options(shown, parameters),
        parameters);
  }

  private static String shown(
      String scheme,
      List<Address> addresses,
      @Nullable String path,
      Map<String, String> parameters) {
    String hosts = String.join(",", addresses.stream().map(Address::toString).toList());
    String database = path == null || path.isEmpty() ? "" : "/" + path;
    String master = parameters.containsKey("master") ? "?master=" + parameters.get("master") : "";
    return scheme + "://" + hosts + database + master;
  }

  private static List<Address> addresses(String scheme, String kind, String hosts) {
    List<Address> addresses = new ArrayList<>();
    int standard = kind.equals("sentinel") ? 26379 : 6379;
    for (String each : hosts.split(",", -1)) {
      Matcher host = HOST.matcher(each);
      if (!host.matches()) {
        throw wrong(scheme, "names no host, or one that cannot be: '" + each + "'");
      }
      int port = host.group(2) == null ? standard : Integer.parseInt(host.group(2));
      if (port < 1 || port > 65_535) {
        throw wrong(scheme, "port " + port + " is not between 1 and 65535");
      }
      addresses.add(new Address(host.group(1).replaceAll("[\\[\\]]", ""), port));
    }
    if (kind.equals("single") && addresses.size() > 1) {
      throw wrong(
          scheme, "names several hosts; write redis-sentinel:// or redis-cluster:// for those");
    }
    return addresses;
  }

  private static int database(String shown, String kind, @Nullable String path) {
    if (path == null || path.isEmpty()) {
      return 0;
    }
    if (!path.matches("\\d{1,6}")) {
      throw wrong(shown, "database '" + path + "' is not a number");
    }
    int database = Integer.parseInt(path);
    if (kind.equals("cluster") && database != 0) {
      throw wrong(shown, "a Cluster has no database but 0");
    }
    return database;
  }

  private static Map<String, String> parameters(String scheme, @Nullable String query) {
    try {
      return UrlParameters.parse(query == null ? "" : query, PARAMETERS);
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

  private static String decoded(String scheme, String text) {
    try {
      return UrlParameters.decoded(text);
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
