package io.pawl.sql;

import io.pawl.spi.StoreUrl;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A {@code jdbc:} URL taken apart. One in whose password an {@code @}, {@code /}, {@code ?} or
 * {@code #} is not escaped is refused, as far as that can be told. User, password and whatever else
 * is secret go to the driver as properties, so that no message of a driver that quotes its URL can
 * tell them. Parameters whose names begin with {@code pawl.} are ours.
 *
 * @param shown host and database, for messages
 * @param forDriver without user, secrets and our own parameters
 * @param properties for the driver
 * @param createsTables {@code pawl.createTables}, true unless set to false
 * @param listens {@code pawl.listen}, true unless set to false
 */
record JdbcUrl(
    String shown, String forDriver, Properties properties, boolean createsTables, boolean listens) {

  private static final Pattern USER_INFO =
      Pattern.compile("(?s)([^/]*//)([^/?#:@]*)(?::([^/?#]*))?@([^?]*)");

  private static final Pattern AUTHORITY = Pattern.compile("(?s)[^/]*//([^/]*)(.*)");

  /** Names with or without a port, addresses in brackets, or a driver's own list in parentheses. */
  private static final Pattern HOSTS =
      Pattern.compile("(?s).*\\(.*|(?:(?:[^:,\\[\\]#]*|\\[[^]]*])(?::[0-9]*)?(?:,|$))*");

  /** After no path: a parameter that ends like {@code …@host/database}. */
  private static final Pattern LATE_HOST = Pattern.compile("(?s).*@[^=&]*/[^=&]*");

  private static final Pattern SECRET = Pattern.compile("(?i).*(pass|pwd|secret|token|key).*");

  /**
   * @throws IllegalArgumentException for a parameter of ours that does not exist, and where a
   *     password is not escaped
   */
  static JdbcUrl parse(StoreUrl url) {
    String text = url.secret();
    int question = text.indexOf('?');
    String base = question < 0 ? text : text.substring(0, question);
    Properties properties = new Properties();
    Matcher withUser = USER_INFO.matcher(base);
    if (withUser.matches()) {
      properties.setProperty("user", decode(url, "user", withUser.group(2)));
      if (withUser.group(3) != null) {
        properties.setProperty("password", decode(url, "password", withUser.group(3)));
      }
      base = withUser.group(1) + withUser.group(4);
    }
    refuseUnescaped(url, base, question < 0 ? "" : text.substring(question));
    StringJoiner rest = new StringJoiner("&", "?", "").setEmptyValue("");
    Map<String, String> own = new TreeMap<>();
    if (question >= 0) {
      for (String parameter : text.substring(question + 1).split("&")) {
        int equals = parameter.indexOf('=');
        String name = equals < 0 ? parameter : parameter.substring(0, equals);
        String value = equals < 0 ? "" : parameter.substring(equals + 1);
        if (name.toLowerCase(Locale.ROOT).startsWith("pawl.")) {
          own.put(name, value);
        } else if (name.equals("user") || SECRET.matcher(name).matches()) {
          properties.setProperty(name, decode(url, name, value));
        } else if (!parameter.isEmpty()) {
          rest.add(parameter);
        }
      }
    }
    boolean creates = take(own, url, "pawl.createTables");
    boolean listens = take(own, url, "pawl.listen");
    if (!own.isEmpty()) {
      throw new IllegalArgumentException(
          "store URL '" + url + "': parameter " + own.keySet() + " is unknown");
    }
    return new JdbcUrl(shown(text), base + rest, properties, creates, listens);
  }

  private static boolean take(Map<String, String> own, StoreUrl url, String name) {
    String value = own.remove(name);
    if (value == null || value.equals("true") || value.equals("false")) {
      return value == null || value.equals("true");
    }
    throw new IllegalArgumentException(
        "store URL '" + url + "': " + name + " is neither true nor false");
  }

  /**
   * Host and database of {@code url}, for messages. Whatever stands before the last {@code @} may
   * be a password, unless it is clear where the host is: rather too much is hidden than too little.
   */
  static String shown(String url) {
    int question = url.indexOf('?');
    String base = question < 0 ? url : url.substring(0, question);
    Matcher withUser = USER_INFO.matcher(base);
    if (withUser.matches()) {
      base = withUser.group(1) + withUser.group(4);
    }
    boolean clear = base.indexOf('@') < 0 && (question < 0 || url.indexOf('@', question) < 0);
    String hidden = StoreUrl.parse(clear ? base : url).toString();
    question = hidden.indexOf('?');
    return question < 0 ? hidden : hidden.substring(0, question);
  }

  /** What is left of {@code base} without user and password has to be hosts and a database. */
  private static void refuseUnescaped(StoreUrl url, String base, String parameters) {
    boolean odd = base.indexOf('@') >= 0;
    Matcher authority = AUTHORITY.matcher(base);
    if (authority.matches()) {
      odd |= !HOSTS.matcher(authority.group(1)).matches();
      odd |= authority.group(2).isEmpty() && LATE_HOST.matcher(parameters).matches();
    }
    if (odd) {
      throw new IllegalArgumentException(
          "store URL '"
              + url.scheme()
              + ":…': has no hosts where they belong; write //user:password@host:port/database, and"
              + " in user and password %40 for @, %3A for :, %2F for /, %3F for ?, %23 for #, %25"
              + " for %");
    }
  }

  private static String decode(StoreUrl url, String what, String text) {
    try {
      // In a URL '+' means itself; only in forms does it stand for a space.
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) { // whose message quotes it
      throw new IllegalArgumentException(
          "store URL '"
              + shown(url.secret())
              + "': "
              + what
              + " has a % without two hexadecimal digits behind it; write %25");
    }
  }

  /** Sets what the URL does not. */
  JdbcUrl defaulting(String name, String value) {
    if (!forDriver.matches("(?s).*[?&]" + Pattern.quote(name) + "=.*")) {
      properties.putIfAbsent(name, value);
    }
    return this;
  }

  @Override
  public String toString() {
    return shown;
  }
}
