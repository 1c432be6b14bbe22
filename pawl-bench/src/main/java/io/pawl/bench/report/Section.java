package io.pawl.bench.report;

import java.util.Arrays;
import java.util.List;

/**
 * One contest's outcome, a part of the report.
 *
 * @param notes what a reader has to know, such as who was left out
 */
public record Section(
    String suite, String title, List<Side> sides, List<Target> targets, List<String> notes) {

  /** The metrics that any side has, in their usual order. */
  public List<Metric> metrics() {
    return Arrays.stream(Metric.values())
        .filter(metric -> sides.stream().anyMatch(side -> side.has(metric)))
        .toList();
  }
}
