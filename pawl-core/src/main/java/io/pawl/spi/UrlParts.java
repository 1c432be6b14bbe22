package io.pawl.spi;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A URL of the form {@code scheme://[user[:password]@]hosts[/path][?query]} taken apart. The user
 * ends at the first colon, the password at the last {@code @} before the path.
 *
 * @param prefix scheme and {@code //}; without {@code //} everything before the query
 * @param user without percent-encoding, null if neither user nor password is given
 * @param password without percent-encoding, null if none is given
 * @param hosts as given
 * @param path as given, with its slash
 * @param query as given, without its question mark
 */
public record UrlParts(
    String prefix,
    @Nullable String user,
    @Nullable String password,
    String hosts,
    String path,
    String query) {

  private static final int LARGEST_PORT = 65_535;
  private static final Pattern IN_PARENTHESES = Pattern.compile("\\s*\\([^()=:]+=[^()]*\\)\\s*");

  /** What is left of a host with parameters when these are taken out of their parentheses. */
  private static final Pattern PARENTHESES =
      Pattern.compile("\\s*\\[?\\s*(?:\\w+=)?(?:\\(\\))+\\]?\\s*");

  /**
   * Splits {@code url} into its parts.
   *
   * @throws IllegalArgumentException when a password has characters that would end it, or the hosts
   *     are invalid; the message quotes neither
   */
  public static UrlParts of(StoreUrl url) {
    String text = url.secret();
    int question = text.indexOf('?');
    int slashes = text.indexOf("//");
    if (slashes < 0 || (question >= 0 && question < slashes)) {
      return new UrlParts(before(text, '?'), null, null, "", "", after(text, '?'));
    }
    int start = slashes + 2;
    String authority = authority(text, start);
    String rest = text.substring(start + authority.length());
    int at = authority.lastIndexOf('@');
    String hosts = authority.substring(at + 1);
    String path = before(rest, '?');
    String query = after(rest, '?');
    if (path.indexOf('@') >= 0 || namesHaveAnAt(query)) {
      throw url.wrong("has / ? or # in its user or password; write %2F %3F %23 for them");
    }
    if (!mayBeHosts(hosts)) {
      throw url.wrong(reason(hosts, rest));
    }
    String userInfo = at < 0 ? "" : authority.substring(0, at);
    return new UrlParts(
        text.substring(0, start),
        at < 0 ? null : decoded(url, before(userInfo, ':')),
        userInfo.indexOf(':') < 0 ? null : decoded(url, after(userInfo, ':')),
        hosts,
        path,
        query);
  }

  /** Returns scheme, hosts and path. */
  public String withoutUserAndQuery() {
    return prefix + hosts + path;
  }

  static String authority(String text, int start) {
    int end = start;
    while (end < text.length() && "/?#;".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    return text.substring(start, end);
  }

  private static String reason(String hosts, String rest) {
    if (rest.indexOf('@') >= 0) {
      return "has / ? or # in its user or password; write %2F %3F %23 for them";
    }
    return hosts.indexOf('(') >= 0
        ? "has parentheses that are no host; write (name=value)(name=value) or address=(name=value)"
        : "names no host, or a port that is not between 1 and 65535";
  }

  /**
   * What has something else than a port after a colon may be a user and a password, unless it is a
   * parameter in parentheses, as in {@code address=(host=a)(port=1)}. A password may have some of
   * these too, and the host that they belong to has nothing else.
   */
  static boolean mayBeHosts(String hosts) {
    String outside = IN_PARENTHESES.matcher(hosts).replaceAll("()");
    for (String host : outside.split(",", -1)) {
      boolean parameters = host.indexOf('(') >= 0 || host.indexOf(')') >= 0;
      if (parameters && !PARENTHESES.matcher(host).matches()) {
        return false;
      }
      String port = host.startsWith("[") ? after(host, ']') : host;
      if (port.indexOf(':') >= 0 && !isPort(after(port, ':'))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPort(String text) {
    return text.matches("\\d{1,5}")
        && Integer.parseInt(text) >= 1
        && Integer.parseInt(text) <= LARGEST_PORT;
  }

  /** As in {@code ?w@host=x}, where the question mark is a part of a password. */
  private static boolean namesHaveAnAt(String query) {
    for (String parameter : query.split("&", -1)) {
      if (before(parameter, '=').indexOf('@') >= 0) {
        return true;
      }
    }
    return false;
  }

  private static String before(String text, char end) {
    int at = text.indexOf(end);
    return at < 0 ? text : text.substring(0, at);
  }

  private static String after(String text, char start) {
    int at = text.indexOf(start);
    return at < 0 ? "" : text.substring(at + 1);
  }

  private static String decoded(StoreUrl url, String text) {
    try {
      return UrlParameters.decoded(text);
    } catch (IllegalArgumentException e) {
      throw url.wrong(String.valueOf(e.getMessage()));
    }
  }

  /** Without passwords. */
  @Override
  public String toString() {
    return StoreUrl.redact(withoutUserAndQuery());
  }
}
