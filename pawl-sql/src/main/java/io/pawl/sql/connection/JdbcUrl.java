package io.pawl.sql.connection;

import io.pawl.spi.StoreUrl;
import io.pawl.spi.UrlParameters;
import io.pawl.spi.UrlParts;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.StringJoiner;
import java.util.TreeMap;
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
public record JdbcUrl(
    String shown, String forDriver, Properties properties, boolean createsTables, boolean listens) {

  /**
   * @throws IllegalArgumentException for a URL that cannot be right, or a parameter of ours that
   *     does not exist; it quotes no password
   */
  public static JdbcUrl parse(StoreUrl url) {
    UrlParts parts = UrlParts.of(url);
    String base = parts.withoutUserAndQuery();
    checkHasNoSecret(url, parts.path());
    Properties properties = new Properties();
    if (parts.user() != null) {
      properties.setProperty("user", parts.user());
    }
    if (parts.password() != null) {
      properties.setProperty("password", parts.password());
    }
    StringJoiner rest = new StringJoiner("&", "?", "").setEmptyValue("");
    Map<String, String> own = new TreeMap<>();
    if (!parts.query().isEmpty()) {
      for (String parameter : parts.query().split("&")) {
        int equals = parameter.indexOf('=');
        String name = equals < 0 ? parameter : parameter.substring(0, equals);
        String value = equals < 0 ? "" : parameter.substring(equals + 1);
        boolean isSecret = StoreUrl.isSecret(name);
        if (!isSecret) {
          checkHasNoSecret(url, value);
        }
        if (name.toLowerCase(Locale.ROOT).startsWith("pawl.")) {
          own.put(name, value);
        } else if (name.equals("user") || isSecret) {
          properties.setProperty(name, decoded(url, value));
        } else if (!parameter.isEmpty()) {
          rest.add(parameter);
        }
      }
    }
    boolean creates = take(own, url, "pawl.createTables");
    boolean listens = take(own, url, "pawl.listen");
    if (!own.isEmpty()) {
      throw url.wrong("parameter " + own.keySet() + " is unknown");
    }
    return new JdbcUrl(parts.toString(), base + rest, properties, creates, listens);
  }

  /** Drivers and servers quote what they do not know: a database, a mode, a user. */
  private static void checkHasNoSecret(StoreUrl url, String text) {
    if (StoreUrl.hasSecret(text)) {
      throw url.wrong(
          "has a password behind another separator; write ? before the first parameter and &"
              + " between them");
    }
  }

  private static boolean take(Map<String, String> own, StoreUrl url, String name) {
    String value = own.remove(name);
    if (value == null || value.equals("true") || value.equals("false")) {
      return value == null || value.equals("true");
    }
    throw url.wrong(name + " is neither true nor false");
  }

  private static String decoded(StoreUrl url, String text) {
    try {
      return UrlParameters.decoded(text);
    } catch (IllegalArgumentException e) {
      throw url.wrong(String.valueOf(e.getMessage()));
    }
  }

  /** Sets what the URL does not. */
  public JdbcUrl defaulting(String name, String value) {
    if (!says(name)) {
      properties.putIfAbsent(name, value);
    }
    return this;
  }

  /** Sets {@code name}, whatever the URL says. */
  public JdbcUrl requiring(String name, String value) {
    String others =
        forDriver.replaceAll("(?is)(?<=[?&])" + Pattern.quote(name) + "(=[^&]*)?(&|$)", "");
    properties.setProperty(name, value);
    return new JdbcUrl(shown, others.replaceFirst("[?&]$", ""), properties, createsTables, listens);
  }

  /** Whether the URL has a value for {@code name}; some drivers take it in any case. */
  public boolean says(String name) {
    return forDriver.matches("(?is).*[?&]" + Pattern.quote(name) + "=.*");
  }

  @Override
  public String toString() {
    return shown;
  }
}
