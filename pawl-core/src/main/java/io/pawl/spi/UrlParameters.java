package io.pawl.spi;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URLDecoder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The parameters of a store's URL: {@code name=value}, joined by {@code &}, each name at most once,
 * values percent-encoded. All methods throw {@link IllegalArgumentException} for invalid input; the
 * caller adds which URL it is.
 */
public final class UrlParameters {

  private static final Pattern HARMLESS = Pattern.compile("[A-Za-z0-9 .,_+-]{0,40}");

  private UrlParameters() {}

  /**
   * Returns the parameters by name, with decoded values.
   *
   * @param query the query without its question mark; may be empty
   * @param names the known names
   */
  public static Map<String, String> parse(String query, Set<String> names) {
    Map<String, String> parameters = new HashMap<>();
    if (query.isEmpty()) {
      return parameters;
    }
    boolean secret = false;
    for (String each : query.split("&", -1)) {
      int equals = each.indexOf('=');
      String name = equals < 0 ? each : each.substring(0, equals);
      if (!names.contains(name)) {
        throw new IllegalArgumentException(
            "parameter "
                + (secret ? "(not shown)" : shown(name)) // may be a password's, after its &
                + " is none of "
                + names.stream().sorted().toList());
      }
      if (equals < 0 || parameters.put(name, decoded(each.substring(equals + 1))) != null) {
        throw new IllegalArgumentException("parameter '" + name + "' has no value, or two");
      }
      boolean isSecret = StoreUrl.isSecret(name);
      if (!isSecret && StoreUrl.hasSecret(parameters.getOrDefault(name, ""))) {
        throw new IllegalArgumentException(
            "parameter '" + name + "' has another one in its value; write & between them");
      }
      secret |= isSecret;
    }
    return parameters;
  }

  /**
   * Returns the value of {@code name}, as {@link DurationText} reads it; {@code otherwise} if it is
   * not given.
   */
  public static Duration duration(Map<String, String> parameters, String name, Duration otherwise) {
    String value = parameters.get(name);
    return value == null ? otherwise : DurationText.parse(name, value);
  }

  /** Returns whether {@code name} is {@code true}; false if it is {@code false} or not given. */
  public static boolean flag(Map<String, String> parameters, String name) {
    String value = parameters.getOrDefault(name, "false");
    if (!value.equals("true") && !value.equals("false")) {
      throw new IllegalArgumentException(name + " " + shown(value) + " is neither true nor false");
    }
    return value.equals("true");
  }

  /** Whatever looks like a part of an address may be a password that went astray. */
  static String shown(String text) {
    return HARMLESS.matcher(text).matches() ? "'" + text + "'" : "(not shown)";
  }

  /** Returns {@code text} without percent-encoding; a {@code +} means itself. */
  public static String decoded(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
    } catch (IllegalArgumentException e) {
      // its message quotes what may be a password
      throw new IllegalArgumentException("has a % that encodes nothing; write %25 for one");
    }
  }
}
