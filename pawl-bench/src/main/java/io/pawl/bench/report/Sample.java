package io.pawl.bench.report;

import java.util.EnumMap;
import java.util.Map;

/** What one fork of one side measured. */
public record Sample(Map<Metric, Double> figures) {

  public Sample {
    figures = new EnumMap<>(figures);
  }

  /** Not a number where this fork has no such figure. */
  public double of(Metric metric) {
    return figures.getOrDefault(metric, Double.NaN);
  }
}
