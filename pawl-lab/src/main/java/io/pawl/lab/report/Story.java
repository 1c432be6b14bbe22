package io.pawl.lab.report;

import io.pawl.lab.report.Result.Run;
import io.pawl.lab.stage.Trace.Mark;
import io.pawl.lab.stage.Trace.Step;
import java.util.List;
import java.util.Locale;

/** What came out, as text. */
public final class Story {

  private static final String[] HEADS = {
    "", "algorithm", "server", "what went wrong", "seen by", "Pawl under the same schedule"
  };

  private Story() {}

  /** Returns a table in Markdown, one row for each specimen. */
  public static String table(List<Result> results) {
    StringBuilder table = new StringBuilder();
    table.append("| ").append(String.join(" | ", HEADS)).append(" |\n");
    table.append("|---".repeat(HEADS.length)).append("|\n");
    for (Result result : results) {
      table
          .append("| ")
          .append(
              String.join(
                  " | ",
                  result.specimen().id(),
                  result.specimen().title(),
                  result.server(),
                  verdict(result.algorithm()),
                  result.algorithm().finding().seen(),
                  verdict(result.pawl())))
          .append(" |\n");
    }
    return table.toString();
  }

  private static String verdict(Run run) {
    return "**" + run.verdict().words() + "**: " + run.finding().what();
  }

  /** Returns the schedule of one specimen, what went wrong, and the same with Pawl. */
  public static String of(Result result) {
    return result.specimen().id()
        + "  "
        + result.specimen().title()
        + ", on "
        + result.server()
        + "\n    "
        + result.specimen().origin()
        + "\n\n"
        + side("The algorithm", result.algorithm())
        + "\n"
        + side("Pawl, the same schedule", result.pawl());
  }

  private static String side(String title, Run run) {
    StringBuilder text = new StringBuilder(title).append('\n');
    int number = 1;
    for (Step step : run.trace().steps()) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %2d  %6d ms  %-7s %s%s%n",
              number++,
              step.millis(),
              step.actor(),
              step.mark() == Mark.FAULT ? "✕ " : "",
              step.text()));
    }
    text.append("  → ")
        .append(run.verdict().words())
        .append(": ")
        .append(run.finding().what())
        .append("\n    seen by: ")
        .append(run.finding().seen())
        .append('\n');
    return text.toString();
  }
}
