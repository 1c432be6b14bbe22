package io.pawl.cli.command;

import io.pawl.spi.DurationText;
import io.pawl.spi.LockName;
import java.time.Duration;
import picocli.CommandLine.ParseResult;

/** What was written on the command line, checked. */
public final class Arguments {

  /** In a message, in place of a word that may hold a password. */
  public static final String HIDDEN = "(not shown)";

  static final String NO_UTF_8 =
      ": holds bytes that are not UTF-8, or no UTF-8 locale is installed";

  private Arguments() {}

  /**
   * A word for a message that it is the wrong one; it may be a URL that stands in the wrong place.
   */
  public static String shown(String word) {
    return word.indexOf(':') < 0 && word.indexOf('@') < 0 ? "'" + word + "'" : HIDDEN;
  }

  /** The same for a word that begins with {@code -}: a URL may be part of it. */
  public static String shownOption(String word) {
    return "option " + word.split("[=:@]", 2)[0];
  }

  public static String lockName(ParseResult arguments) {
    String name = arguments.matchedPositionalValue(0, "");
    try {
      return LockName.check(text("lock name", name));
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }

  public static String text(String what, String text) {
    if (isMisread(text)) {
      throw Failure.usage(what + NO_UTF_8);
    }
    return text;
  }

  /** Bytes that are no characters are read as U+FFFD, all of them the same. */
  public static boolean isMisread(String text) {
    return text.indexOf('\uFFFD') >= 0;
  }

  public static Duration duration(String option, String text) {
    try {
      return DurationText.parse(option, text);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(String.valueOf(e.getMessage()));
    }
  }
}
