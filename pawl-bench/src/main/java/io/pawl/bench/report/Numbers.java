package io.pawl.bench.report;

import java.util.Arrays;
import java.util.Locale;

/** Medians, and figures as people read them. */
public final class Numbers {

  private Numbers() {}

  static double median(double[] values) {
    if (values.length == 0) {
      return Double.NaN;
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static double largest(double[] values) {
    return Arrays.stream(values).max().orElse(Double.NaN);
  }

  /** Largest over smallest; infinite where somebody got nothing. */
  public static double spread(long[] counts) {
    long least = Arrays.stream(counts).min().orElse(0);
    long most = Arrays.stream(counts).max().orElse(0);
    return least == 0 ? Double.POSITIVE_INFINITY : (double) most / least;
  }

  /** Whole from 100 on, otherwise with three digits. */
  public static String show(double value) {
    if (Double.isNaN(value)) {
      return "–";
    }
    if (Double.isInfinite(value)) {
      return "∞";
    }
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }
}
