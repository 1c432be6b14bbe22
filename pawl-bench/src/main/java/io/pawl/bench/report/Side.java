package io.pawl.bench.report;

import java.util.List;

/** A rival and what its forks measured; empty where it could not be measured. */
public record Side(String name, List<Sample> forks) {

  public boolean isMeasured() {
    return !forks.isEmpty();
  }

  public boolean has(Metric metric) {
    return forks.stream().anyMatch(fork -> !Double.isNaN(fork.of(metric)));
  }

  public double figure(Metric metric) {
    return metric.over(forks.stream().mapToDouble(fork -> fork.of(metric)).toArray());
  }

  /** The median over forks of ours divided by theirs, each pair taken in one round. */
  double ratio(Metric metric, Side beside, Metric theirs) {
    int pairs = Math.min(forks.size(), beside.forks.size());
    double[] ratios = new double[pairs];
    for (int fork = 0; fork < pairs; fork++) {
      ratios[fork] = forks.get(fork).of(metric) / beside.forks.get(fork).of(theirs);
    }
    return Numbers.median(ratios);
  }
}
