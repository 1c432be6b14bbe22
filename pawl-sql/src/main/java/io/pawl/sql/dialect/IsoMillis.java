package io.pawl.sql.dialect;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;

/**
 * Milliseconds since 1970 as {@link Instant} writes and reads them, without its formatter, which
 * would cost more than the rest of a row: {@code 2027-01-15T08:00:00.123Z}.
 */
public final class IsoMillis {

  private static final int WITH_MILLIS = 24;
  private static final int WITH_SECONDS = 20;
  private static final long DAY_MILLIS = 86_400_000;

  private IsoMillis() {}

  public static String format(long millis) {
    LocalDate date = LocalDate.ofEpochDay(Math.floorDiv(millis, DAY_MILLIS));
    if (date.getYear() < 1000 || date.getYear() > 9999) {
      return Instant.ofEpochMilli(millis).toString();
    }
    int time = (int) Math.floorMod(millis, DAY_MILLIS);
    StringBuilder text = new StringBuilder(WITH_MILLIS).append(date).append('T');
    twoDigits(text, time / 3_600_000).append(':');
    twoDigits(text, time / 60_000 % 60).append(':');
    twoDigits(text, time / 1000 % 60);
    if (time % 1000 != 0) {
      text.append('.').append((char) ('0' + time / 100 % 10));
      twoDigits(text, time % 100);
    }
    return text.append('Z').toString();
  }

  /** With milliseconds always, so that the text sorts as the time does, up to the year 9999. */
  public static String sortable(long millis) {
    String text = format(millis);
    return text.length() == WITH_SECONDS ? text.replace("Z", ".000Z") : text;
  }

  /** As {@link #sortable}; nothing where there is no time, which is 0. */
  public static String sortableOrEmpty(long millis) {
    return millis == 0 ? "" : sortable(millis);
  }

  /** What {@link #sortableOrEmpty} wrote. */
  public static long parseOrZero(@Nullable String text) {
    return text == null || text.isEmpty() ? 0 : parse(text);
  }

  private static StringBuilder twoDigits(StringBuilder text, int value) {
    return text.append((char) ('0' + value / 10)).append((char) ('0' + value % 10));
  }

  /**
   * @throws DateTimeException for a text that {@link Instant#parse} does not read
   */
  public static long parse(String text) {
    if (!isPlain(text)) {
      return Instant.parse(text).toEpochMilli();
    }
    LocalDate date = LocalDate.of(number(text, 0, 4), number(text, 5, 7), number(text, 8, 10));
    long seconds = number(text, 11, 13) * 3600L + number(text, 14, 16) * 60L + number(text, 17, 19);
    int millis = text.length() == WITH_MILLIS ? number(text, 20, 23) : 0;
    return date.toEpochDay() * DAY_MILLIS + seconds * 1000 + millis;
  }

  private static boolean isPlain(String text) {
    String shape =
        switch (text.length()) {
          case WITH_MILLIS -> "0000-00-00T00:00:00.000Z";
          case WITH_SECONDS -> "0000-00-00T00:00:00Z";
          default -> "";
        };
    if (shape.isEmpty()) {
      return false;
    }
    for (int i = 0; i < shape.length(); i++) {
      char c = text.charAt(i);
      if (shape.charAt(i) == '0' ? c < '0' || c > '9' : c != shape.charAt(i)) {
        return false;
      }
    }
    return number(text, 11, 13) < 24 && number(text, 14, 16) < 60 && number(text, 17, 19) < 60;
  }

  private static int number(String text, int from, int to) {
    int value = 0;
    for (int i = from; i < to; i++) {
      value = 10 * value + text.charAt(i) - '0';
    }
    return value;
  }
}
