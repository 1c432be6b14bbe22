package io.pawl.lab.chaos;

import io.pawl.checker.Verdict;
import io.pawl.lab.chaos.Result.Row;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** Says in Markdown what came out of runs. */
final class Report {

  private static final String RUNS = "{runs}";

  private Report() {}

  /** Makes a page of what was run, with what it means and what it leaves open. */
  static String page(List<Result> results) {
    try (InputStream in =
        Objects.requireNonNull(Report.class.getResourceAsStream("reliability.md"))) {
      String page = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<String> runs = new ArrayList<>();
      runs.add(summary(results));
      results.forEach(result -> runs.add(of(result)));
      return page.replace(RUNS, String.join("\n", runs).strip());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String summary(List<Result> results) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| store | minutes | seed | faults | bit | granted | lost | stale unfenced | waits judged, s |"
            + " promises |");
    lines.add("|---|---|---|---|---|---|---|---|---|---|");
    for (Result result : results) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %s | %.1f | %d | %d | %d | %,d | %d | %d | %.0f | %s |",
              title(result),
              result.order().millis() / 6e4,
              result.order().seed(),
              result.rows().stream().mapToInt(Row::times).sum(),
              result.rows().stream().mapToInt(Row::bit).sum(),
              result.acquired(),
              result.rows().stream().mapToLong(Row::lost).sum(),
              result.rows().stream().mapToLong(Row::stale).sum(),
              result.judgedSeconds(),
              promises(result)));
    }
    return String.join("\n", lines) + "\n";
  }

  private static String title(Result result) {
    ChaosRun.Order order = result.order();
    String word = order.store().word();
    return order.library().isRival() ? word + ", " + order.library().rival().title() : word;
  }

  private static String promises(Result result) {
    boolean areAllKnown = result.verdicts().stream().allMatch(Verdict::isKept);
    return result.isBroken() ? "**broken**" : areAllKnown ? "kept" : "kept, as far as known";
  }

  static String of(Result result) {
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "### %s: %.0f s of faults, `--seed %d`",
            title(result),
            result.order().millis() / 1e3,
            result.order().seed()));
    lines.add("");
    lines.add(
        String.format(
            Locale.ROOT,
            "%,d leases were granted to %d worker JVMs, three at a time, with leases of %d ms.",
            result.acquired(),
            result.jvms(),
            result.order().leaseMillis()));
    lines.add("");
    for (Verdict verdict : result.verdicts()) {
      lines.add("- " + verdict.promise() + ": **" + text(verdict) + "**");
      verdict.violations().forEach(violation -> lines.add("  - " + violation));
    }
    if (!result.order().library().hasTokens()) {
      lines.add("- tokens, fences and linearizability: **not judged**; the library has no tokens");
    }
    lines.add(
        "- P8 nothing left behind: each lock is free in the end: **"
            + (result.stuck().isEmpty() ? "kept" : "broken")
            + "**");
    result.stuck().forEach(violation -> lines.add("  - " + violation));
    lines.add(
        "- the unfenced register saw stale writes, as it has to: **"
            + (result.hasSeenStaleWrites() ? "yes" : "no")
            + "**");
    if (!result.order().library().isRival()) {
      lines.add(
          "- losses that neither a recent fault nor a late beat explains: **"
              + result.unexplained()
              + "**");
    }
    lines.addAll(result.takeovers().told());
    lines.add(
        String.format(
            Locale.ROOT,
            "- waits were judged in %.0f s without faults; the machine had no time for somebody %d"
                + " times",
            result.judgedSeconds(),
            result.late()));
    lines.add("");
    lines.add(
        "| fault | times | bit | granted | lost | met inside | stale unfenced | refused by the fence |"
            + " loss told, ms | recovered, ms |");
    lines.add("|---|---|---|---|---|---|---|---|---|---|");
    boolean hasTokens = result.order().library().hasTokens();
    for (Row row : result.rows()) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %s | %d | %d | %,d | %d | %d | %d | %s | %s | %s |",
              row.kind().title(),
              row.times(),
              row.bit(),
              row.acquired(),
              row.lost(),
              row.met(),
              row.stale(),
              hasTokens ? row.refused() : "no tokens",
              quantiles(row.detection()),
              quantiles(row.recovery())));
    }
    return String.join("\n", lines) + "\n";
  }

  private static String text(Verdict verdict) {
    return switch (verdict.ruling()) {
      case KEPT -> "kept";
      case BROKEN -> "broken";
      case UNKNOWN -> "not known";
    };
  }

  private static String quantiles(double[] sorted) {
    return sorted.length == 0
        ? ""
        : String.format(
            Locale.ROOT,
            "%.0f / %.0f / %.0f",
            Row.quantile(sorted, 0.5),
            Row.quantile(sorted, 0.99),
            sorted[sorted.length - 1]);
  }
}
