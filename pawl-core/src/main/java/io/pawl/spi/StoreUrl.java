package io.pawl.spi;

import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The address of a store. {@link #toString} and messages never show a password: they hide
 * everything between the scheme and the last {@code @}, whatever stands in the place of a port, and
 * everything from the first parameter on whose name suggests a password, secret, key or token. They
 * hide too much rather than too little. {@link UrlParts} parses a URL by the same rules.
 */
public final class StoreUrl {

  private static final String SECRET_NAME = "(?:pass|pwd|secret|token|key|auth|cred)[^=&;,()]*=";

  /** The whole name of a parameter that can be nothing else, wherever it stands. */
  private static final String PASSWORD_NAME =
      "\\w*(?:password|passwd|passphrase|pass|pwd|secret|token)\\d*=";

  /** To the end, since people write passwords with any character unescaped. */
  private static final Pattern SECRET =
      Pattern.compile("(?is)([?&;#][^=&;#]*" + SECRET_NAME + "|\\s" + PASSWORD_NAME + ").*");

  /** As in {@code ?master=m;password=x}: in a value, where an {@code &} was meant. */
  private static final Pattern SECRET_IN_A_VALUE =
      Pattern.compile("(?i)[?&;#,\\s]" + PASSWORD_NAME);

  /** As in {@code jdbc:mysql://(host=h,password=x)}. */
  private static final Pattern SECRET_IN_PARENTHESES =
      Pattern.compile("(?is)([(,][^=(),]*" + SECRET_NAME + ")[^)]*");

  /** A parameter that names a user, who may be {@code me@corp}. */
  private static final Pattern USER = Pattern.compile("(?is)[?&]user(?:name)?=[^&]*$");

  /**
   * What has a colon, or no directory before its first {@code @}, may be hosts after a slash too
   * few.
   */
  private static final Pattern PATH = Pattern.compile("(?s)(?:jdbc:)?[^/:]*:[/.][^:@]*/[^:]*");

  /**
   * Between the URLs of a gate and its truth, or of nodes: a bar that a URL follows; passwords have
   * others.
   */
  public static final Pattern BAR =
      Pattern.compile("\\|(?=jdbc:|memory:[\\w.-]*(\\||$)|[A-Za-z][A-Za-z0-9+.-]*:/)");

  private final String raw;

  private StoreUrl(String raw) {
    this.raw = raw;
  }

  /**
   * @throws IllegalArgumentException if there is no scheme
   */
  public static StoreUrl parse(String url) {
    if (!url.matches("(?s)[A-Za-z][A-Za-z0-9+.-]*:.*")) {
      throw new IllegalArgumentException(
          "store URL '" + redact(url) + "': has no scheme; write sqlite:/path/to/file for a file");
    }
    return new StoreUrl(url);
  }

  /** Returns the part before the first colon, in lower case; for {@code jdbc:x:…} both parts. */
  public String scheme() {
    String lower = raw.toLowerCase(java.util.Locale.ROOT);
    int colon = lower.indexOf(':');
    if (lower.startsWith("jdbc:")) {
      int second = lower.indexOf(':', 5);
      colon = second < 0 ? colon : second;
    }
    return lower.substring(0, colon);
  }

  /** Returns the part after the scheme and its colon. */
  public String rest() {
    return raw.substring(scheme().length() + 1);
  }

  /** Returns the whole URL with the password: for the driver, never for a message. */
  public String secret() {
    return raw;
  }

  static String redact(String url) {
    if (url.regionMatches(true, 0, "gate:", 0, 5) || url.regionMatches(true, 0, "quorum:", 0, 7)) {
      return BAR.splitAsStream(url).map(StoreUrl::redactOne).collect(Collectors.joining("|"));
    }
    return redactOne(url);
  }

  private static String redactOne(String url) {
    String shown = SECRET.matcher(url).replaceFirst("$1***");
    shown = SECRET_IN_PARENTHESES.matcher(shown).replaceAll("$1***");
    int slashes = shown.indexOf("//");
    int start = slashes < 0 ? shown.indexOf(':') + 1 : slashes + 2;
    int at = shown.lastIndexOf('@');
    while (at > start && USER.matcher(shown.substring(0, at)).find()) {
      at = shown.lastIndexOf('@', at - 1);
    }
    if (slashes < 0) {
      return at < 0 || PATH.matcher(shown).matches() ? shown : hidden(shown, start, at);
    }
    if (at >= 0) {
      return hidden(shown, at < start ? shown.indexOf(':') + 1 : start, at);
    }
    return UrlParts.mayBeHosts(UrlParts.authority(shown, start))
        ? shown
        : shown.substring(0, start) + "***";
  }

  /** From the beginning where {@code from} lies behind. */
  private static String hidden(String url, int from, int to) {
    return url.substring(0, from > to ? 0 : from) + "***" + url.substring(to);
  }

  /** Returns whether the value of a parameter of this name is secret. */
  public static boolean isSecret(String name) {
    return SECRET.matcher("?" + name + "=").matches();
  }

  /** Returns whether a path or a parameter's value seems to have a parameter, a secret, in it. */
  public static boolean hasSecret(String value) {
    return SECRET_IN_A_VALUE.matcher(value).find();
  }

  /** Returns an exception that says what is wrong with the URL, without passwords. */
  public IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException("store URL '" + this + "': " + what);
  }

  /** Without passwords. */
  @Override
  public String toString() {
    return redact(raw);
  }
}
