package io.pawl.lab.report;

import io.pawl.lab.report.Result.Run;
import io.pawl.lab.stage.Trace.Step;
import io.pawl.lab.stage.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** What came out, as one page of HTML that needs nothing else. */
public final class Page {

  private static final String LEGEND =
      """
      <p class="legend">
      <span><i class="k hold"></i>thinks that it holds; # is its fencing token, or the end of it</span>
      <span><i class="k overlap"></i>holds beside another</span>
      <span><i class="k x">✕</i>what the schedule does to it</span>
      <span><i class="k ring"></i>refused</span>
      <span><i class="k write"></i>write</span>
      <span><i class="k stale"></i>stale write, taken</span>
      <span><i class="k fenced"></i>stale write, refused by the fence</span>
      </p>
      """;

  private Page() {}

  /**
   * Returns the page.
   *
   * @param machine what it ran on, in a few words
   */
  public static String of(List<Result> results, String machine) {
    StringBuilder page = new StringBuilder();
    page.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<title>Pawl's lab</title>\n<style>\n")
        .append(style())
        .append("</style>\n</head>\n<body>\n<main>\n");
    head(page, results, machine);
    table(page, results);
    page.append(LEGEND);
    results.forEach(result -> card(page, result));
    return page.append("</main>\n</body>\n</html>\n").toString();
  }

  private static void head(StringBuilder page, List<Result> results, String machine) {
    long hidden =
        results.stream().filter(r -> r.algorithm().verdict() == Verdict.NOT_REPRODUCED).count();
    long stands = results.stream().filter(r -> r.pawl().verdict() == Verdict.STANDS).count();
    page.append("<h1>Locks that fail on demand</h1>\n<p class=\"lead\">")
        .append(results.size())
        .append(
            " algorithms and libraries, each on a real server and under a schedule of steps that"
                + " brings its weakness about. Pawl then runs under the same schedule: it stands ")
        .append(stands)
        .append(" of ")
        .append(results.size())
        .append(
            ". Of the reported defects "
                + hidden
                + " did not show. Nothing here depends on luck: each step waits for the one before it. <code>./pawl"
                + " lab</code> repeats all of it, <code>./pawl lab S4</code> one.</p>\n<p"
                + " class=\"machine\">")
        .append(Html.escaped(machine))
        .append("</p>\n");
  }

  private static void table(StringBuilder page, List<Result> results) {
    page.append(
        "<div class=\"wide\"><table>\n<thead><tr><th></th><th>Algorithm</th><th>Server</th>"
            + "<th>What went wrong</th><th>Pawl</th></tr></thead>\n<tbody>\n");
    for (Result result : results) {
      String id = Html.escaped(result.specimen().id());
      page.append("<tr><td><a href=\"#%s\">%s</a></td>".formatted(id, id))
          .append("<td>%s</td>".formatted(Html.escaped(result.specimen().title())))
          .append("<td>%s</td>".formatted(Html.escaped(result.server())))
          .append("<td>%s</td>".formatted(pill(result.algorithm())))
          .append("<td>%s</td></tr>\n".formatted(pill(result.pawl())));
    }
    page.append("</tbody>\n</table></div>\n");
  }

  private static String pill(Run run) {
    String kind =
        switch (run.verdict()) {
          case STANDS -> "good";
          case COSTLY -> "slow";
          case NOT_REPRODUCED, NOT_PLAYED -> "none";
          default -> "bad";
        };
    return "<span class=\"pill %s\">%s</span>".formatted(kind, Html.escaped(run.verdict().words()));
  }

  private static void card(StringBuilder page, Result result) {
    page.append(
            "<section id=\"%s\">\n<h2><span class=\"id\">%s</span> %s</h2>\n"
                .formatted(
                    Html.escaped(result.specimen().id()),
                    Html.escaped(result.specimen().id()),
                    Html.escaped(result.specimen().title())))
        .append(
            "<p class=\"origin\">%s On %s.</p>\n<div class=\"sides\">\n"
                .formatted(
                    Html.escaped(result.specimen().origin()), Html.escaped(result.server())));
    side(page, "As it is written", result.algorithm());
    side(page, "Pawl, the same schedule", result.pawl());
    page.append("</div>\n</section>\n");
  }

  private static void side(StringBuilder page, String title, Run run) {
    page.append("<article>\n<h3>%s %s</h3>\n".formatted(title, pill(run)))
        .append("<p class=\"what\">%s</p>\n".formatted(Html.escaped(sentence(run))))
        .append("<p class=\"seen\">Seen by: %s</p>\n".formatted(Html.escaped(run.finding().seen())))
        .append("<div class=\"wide\">")
        .append(Picture.of(run.trace()))
        .append("</div>\n<ol>\n");
    for (Step step : run.trace().steps()) {
      page.append(
          "<li class=\"%s\"><b>%s</b> %s <small>%d ms</small></li>\n"
              .formatted(
                  step.mark().name().toLowerCase(Locale.ROOT),
                  Html.escaped(step.actor()),
                  Html.escaped(step.text()),
                  step.millis()));
    }
    page.append("</ol>\n</article>\n");
  }

  private static String sentence(Run run) {
    String what = run.finding().what();
    return what.isEmpty() ? "" : Character.toUpperCase(what.charAt(0)) + what.substring(1) + ".";
  }

  private static String style() {
    try (InputStream in = Page.class.getResourceAsStream("page.css")) {
      if (in == null) {
        throw new IllegalStateException("page.css is not beside " + Page.class);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
