package io.pawl.spi;

import java.util.regex.Pattern;

/**
 * The address of a store. {@link #toString} and messages never show a password: whatever stands
 * between a user's colon and the last {@code @}, and the value of every parameter whose name speaks
 * of a password, secret, key or token. Rather too much is hidden than too little.
 */
public final class StoreUrl {

  /** Up to the last {@code @}, since people write passwords with any character unescaped. */
  private static final Pattern USER_INFO = Pattern.compile("(?s)(//[^/?#:]*):.*@");

  /** An address without {@code //} that is no path. */
  private static final Pattern BARE_USER_INFO = Pattern.compile("(?s)^([^/:]*):(?![/.]).*@");

  private static final String SECRET_NAME = "(?:pass|pwd|secret|token|key|auth|cred)[^=&;,()]*=";

  private static final Pattern SECRET =
      Pattern.compile("(?is)([?&;#][^=&;#]*" + SECRET_NAME + ")(?:\\{[^}]*}|[^&;]*)");

  /** As in {@code jdbc:mysql://(host=h,password=x)}. */
  private static final Pattern SECRET_IN_PARENTHESES =
      Pattern.compile("(?is)([(,][^=(),]*" + SECRET_NAME + ")[^)]*");

  private final String raw;

  private StoreUrl(String raw) {
    this.raw = raw;
  }

  /**
   * @throws IllegalArgumentException without a scheme
   */
  public static StoreUrl parse(String url) {
    if (!url.matches("(?s)[A-Za-z][A-Za-z0-9+.-]*:.*")) {
      throw new IllegalArgumentException(
          "store URL '" + redact(url) + "': has no scheme; write sqlite:/path/to/file for a file");
    }
    return new StoreUrl(url);
  }

  /** What stands before the first colon, lower case; for {@code jdbc:x:…} both parts. */
  public String scheme() {
    String lower = raw.toLowerCase(java.util.Locale.ROOT);
    int colon = lower.indexOf(':');
    if (lower.startsWith("jdbc:")) {
      int second = lower.indexOf(':', 5);
      colon = second < 0 ? colon : second;
    }
    return lower.substring(0, colon);
  }

  /** What stands after the scheme and its colon. */
  public String rest() {
    return raw.substring(scheme().length() + 1);
  }

  /** The whole, password included: for the driver, never for a message. */
  public String secret() {
    return raw;
  }

  static String redact(String url) {
    String shown = SECRET.matcher(url).replaceAll("$1***");
    shown = SECRET_IN_PARENTHESES.matcher(shown).replaceAll("$1***");
    shown = USER_INFO.matcher(shown).replaceAll("$1:***@");
    return shown.contains("//") ? shown : BARE_USER_INFO.matcher(shown).replaceAll("$1:***@");
  }

  /** Without passwords. */
  @Override
  public String toString() {
    return redact(raw);
  }
}
