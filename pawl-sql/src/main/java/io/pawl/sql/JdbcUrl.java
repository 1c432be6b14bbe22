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
 * A {@code jdbc:} URL taken apart. User, password and whatever else is secret go to the driver as
 * properties, so that no message of a driver that quotes its URL can tell them. Parameters whose
 * names begin with {@code pawl.} are ours.
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
  private static final Pattern SECRET = Pattern.compile("(?i).*(pass|pwd|secret|token|key).*");

  /**
   * @throws IllegalArgumentException for a parameter of ours that does not exist
   */
  static JdbcUrl parse(StoreUrl url) {
    String text = url.secret();
    int question = text.indexOf('?');
    String base = question < 0 ? text : text.substring(0, question);
    Properties properties = new Properties();
    Matcher withUser = USER_INFO.matcher(base);
    if (withUser.matches()) {
      properties.setProperty("user", decode(withUser.group(2)));
      if (withUser.group(3) != null) {
        properties.setProperty("password", decode(withUser.group(3)));
      }
      base = withUser.group(1) + withUser.group(4);
    }
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
          properties.setProperty(name, decode(value));
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
    return new JdbcUrl(base, base + rest, properties, creates, listens);
  }

  private static boolean take(Map<String, String> own, StoreUrl url, String name) {
    String value = own.remove(name);
    if (value == null || value.equals("true") || value.equals("false")) {
      return value == null || value.equals("true");
    }
    throw new IllegalArgumentException(
        "store URL '" + url + "': " + name + " is neither true nor false");
  }

  private static String decode(String text) {
    // In a URL '+' means itself; only in forms does it stand for a space.
    return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
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
