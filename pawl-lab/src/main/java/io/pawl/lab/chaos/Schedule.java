package io.pawl.lab.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Faults in order: as text, so that they can be played again, and with less of them. */
final class Schedule {

  private Schedule() {}

  /** Writes one fault a line: gap, kind, part, how long it lasts, replies. */
  static String text(List<Fault> faults) {
    return faults.stream()
        .map(
            fault ->
                fault.gapMillis()
                    + " "
                    + fault.kind()
                    + " "
                    + fault.part()
                    + " "
                    + fault.millis()
                    + " "
                    + fault.replies()
                    + "\n")
        .collect(Collectors.joining());
  }

  /** Reads what {@link #text} wrote. */
  static List<Fault> parse(String text) {
    return text.lines().filter(line -> !line.isBlank()).map(Schedule::fault).toList();
  }

  private static Fault fault(String line) {
    String[] words = line.trim().split(" ");
    try {
      return new Fault(
          Long.parseLong(words[0]),
          Fault.Kind.valueOf(words[1]),
          Integer.parseInt(words[2]),
          Long.parseLong(words[3]),
          Integer.parseInt(words[4]));
    } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          "'" + line + "' is no fault; write GAP-MILLIS KIND PART MILLIS REPLIES", e);
    }
  }

  /**
   * Leaves out parts of a schedule that fails as long as the rest fails too: first halves, then
   * ever smaller parts, in the end single faults.
   *
   * @param mostRuns after how many runs it is given up
   */
  static List<Fault> shrink(List<Fault> failing, int mostRuns, Predicate<List<Fault>> fails) {
    List<Fault> least = failing;
    int parts = 2;
    int part = 0;
    for (int runs = 0; runs < mostRuns && least.size() > 1; runs++) {
      List<Fault> rest = without(least, part, parts);
      if (fails.test(rest)) {
        least = rest;
        parts = Math.max(2, parts - 1);
        part = Math.min(part, parts - 1);
      } else if (++part == parts) {
        if (parts == least.size()) {
          break;
        }
        parts = Math.min(2 * parts, least.size());
        part = 0;
      }
    }
    return least;
  }

  private static List<Fault> without(List<Fault> faults, int part, int parts) {
    List<Fault> rest = new ArrayList<>(faults);
    rest.subList(part * faults.size() / parts, (part + 1) * faults.size() / parts).clear();
    return rest;
  }
}
