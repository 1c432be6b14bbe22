package io.pawl.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pawl.spi.StoreUrl;
import java.net.URLDecoder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
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
  private static final Pattern DURATION = Pattern.compile("(\\d{1,6})(ms|s|m|h|d)");

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
    Map<String, String> parameters = new HashMap<>();
    if (query == null || query.isEmpty()) {
      return parameters;
    }
    for (String each : query.split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? each : each.substring(0, equals);
      if (!PARAMETERS.contains(name)) {
        throw wrong(
            scheme, "parameter '" + name + "' is none of " + PARAMETERS.stream().sorted().toList());
      }
      if (equals < 0 || parameters.put(name, decoded(scheme, each.substring(equals + 1))) != null) {
        throw wrong(scheme, "parameter '" + name + "' has no value, or two");
      }
    }
    return parameters;
  }

  private static RedisOptions options(String shown, Map<String, String> parameters) {
    RedisOptions options = RedisOptions.defaults();
    try {
      if (parameters.containsKey("timeout")) {
        options = options.timeout(duration(shown, "timeout", parameters.get("timeout")));
      }
      if (parameters.containsKey("keepIds")) {
        options = options.keepIds(duration(shown, "keepIds", parameters.get("keepIds")));
      }
      Duration wait = options.waitTimeout();
      if (parameters.containsKey("waitTimeout")) {
        wait = duration(shown, "waitTimeout", parameters.get("waitTimeout"));
      }
      String replicas = parameters.getOrDefault("waitReplicas", "0");
      if (!replicas.matches("\\d{1,3}")) {
        throw wrong(shown, "waitReplicas '" + replicas + "' is not a number");
      }
      int count = Integer.parseInt(replicas);
      return count == 0 ? options : options.waitReplicas(count, wait);
    } catch (IllegalArgumentException e) {
      String what = String.valueOf(e.getMessage());
      throw what.startsWith("store URL") ? e : wrong(shown, what);
    }
  }

  private static Duration duration(String shown, String name, @Nullable String text) {
    Matcher duration = DURATION.matcher(String.valueOf(text));
    if (!duration.matches()) {
      throw wrong(shown, name + " '" + text + "' is not a duration such as 500ms, 2s or 24h");
    }
    long number = Long.parseLong(duration.group(1));
    return switch (duration.group(2)) {
      case "d" -> Duration.ofDays(number);
      case "h" -> Duration.ofHours(number);
      case "m" -> Duration.ofMinutes(number);
      case "s" -> Duration.ofSeconds(number);
      default -> Duration.ofMillis(number);
    };
  }

  private static boolean flag(String scheme, Map<String, String> parameters, String name) {
    String value = parameters.getOrDefault(name, "false");
    if (!value.equals("true") && !value.equals("false")) {
      throw wrong(scheme, name + " is neither true nor false");
    }
    return value.equals("true");
  }

  private static String decoded(String scheme, String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    } catch (IllegalArgumentException e) {
      throw wrong(scheme, "has a % that encodes nothing; write %25 for one");
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
