package io.pawl.spi;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as people write them, in options and in parameters of URLs: {@code 500ms}, {@code 30s},
 * {@code 5m}, {@code 2h}, {@code 1d} or {@code PT30S}.
 */
public final class DurationText {

  /** 100 years: nanoseconds can count it. */
  public static final Duration LONGEST = Duration.ofDays(36_525);

  private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");

  private DurationText() {}

  /**
   * Reads {@code text}: zero to {@link #LONGEST}.
   *
   * @param what the name of the option or parameter, for the message
   * @throws IllegalArgumentException if it is no such duration; the message names {@code what}, the
   *     value unless it may be part of a password, and what to write
   */
  public static Duration parse(String what, String text) {
    Duration duration;
    try {
      duration = read(text);
    } catch (DateTimeParseException e) {
      throw wrong(what, text, "is no duration; write 500ms, 30s, 5m, 2h, 1d or PT30S");
    } catch (ArithmeticException e) {
      throw wrong(what, text, "is longer than 100 years; write 36525d or less");
    }
    if (duration.isNegative()) {
      throw wrong(what, text, "is negative; write 0s or more");
    }
    if (duration.compareTo(LONGEST) > 0) {
      throw wrong(what, text, "is longer than 100 years; write 36525d or less");
    }
    return duration;
  }

  private static Duration read(String text) {
    Matcher simple = SIMPLE.matcher(text);
    if (!simple.matches()) {
      return Duration.parse(text);
    }
    long amount = Long.parseLong(simple.group(1));
    return switch (simple.group(2)) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  private static IllegalArgumentException wrong(String what, String text, String why) {
    return new IllegalArgumentException(what + ": " + UrlParameters.shown(text) + " " + why);
  }

  /** Returns the duration for people: the two largest units, such as {@code 2m 5s}. */
  public static String format(Duration duration) {
    if (duration.isNegative()) {
      return "-" + format(duration.negated());
    }
    long seconds = duration.toSeconds();
    if (seconds >= 86_400) {
      return pair(seconds / 86_400, "d", seconds / 3600 % 24, "h");
    }
    if (seconds >= 3600) {
      return pair(seconds / 3600, "h", seconds / 60 % 60, "m");
    }
    if (seconds >= 60) {
      return pair(seconds / 60, "m", seconds % 60, "s");
    }
    return seconds >= 10 ? seconds + "s" : duration.toMillis() / 100 / 10.0 + "s";
  }

  private static String pair(long large, String largeUnit, long small, String smallUnit) {
    return small == 0 ? large + largeUnit : large + largeUnit + " " + small + smallUnit;
  }
}
