package io.pawl.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations as people write them: {@code 500ms}, {@code 30s}, {@code 5m}, {@code PT30S}. */
final class DurationText {

  /** 100 years: nanoseconds can count it. */
  static final Duration LONGEST = Duration.ofDays(36_525);

  private static final Pattern SIMPLE = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");

  private DurationText() {}

  /**
   * Reads the value of an option.
   *
   * @throws Failure that names the option, for what is no duration or a negative one
   */
  static Duration parse(String option, String text) {
    Matcher simple = SIMPLE.matcher(text);
    try {
      Duration duration =
          simple.matches()
              ? of(Long.parseLong(simple.group(1)), simple.group(2))
              : Duration.parse(text);
      if (duration.isNegative()) {
        throw Failure.usage(option + ": " + text + " is negative");
      }
      if (duration.compareTo(LONGEST) > 0) {
        throw Failure.usage(option + ": " + text + " is longer than 100 years");
      }
      return duration;
    } catch (DateTimeParseException e) {
      throw Failure.usage(
          option + ": '" + text + "' is no duration; write 500ms, 30s, 5m, 2h, 1d or PT30S");
    } catch (ArithmeticException e) {
      throw Failure.usage(option + ": " + text + " is longer than 100 years");
    }
  }

  private static Duration of(long amount, String unit) {
    return switch (unit) {
      case "ms" -> Duration.ofMillis(amount);
      case "s" -> Duration.ofSeconds(amount);
      case "m" -> Duration.ofMinutes(amount);
      case "h" -> Duration.ofHours(amount);
      default -> Duration.ofDays(amount);
    };
  }

  /** For people: the two largest units, such as {@code 2m 5s}. */
  static String format(Duration duration) {
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
