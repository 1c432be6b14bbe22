package io.pawl.bench.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an issue asks of a side.
 *
 * @param beside the side that it is a multiple of, null where the bound is absolute
 * @param besideMetric which figure of it
 * @param atLeast whether more is better
 */
public record Target(
    String side,
    Metric metric,
    boolean atLeast,
    double bound,
    @Nullable String beside,
    Metric besideMetric) {

  /** {@code side} reaches {@code bound} or more. */
  public static Target atLeast(String side, Metric metric, double bound) {
    return new Target(side, metric, true, bound, null, metric);
  }

  /** {@code side} stays at {@code bound} or below. */
  public static Target atMost(String side, Metric metric, double bound) {
    return new Target(side, metric, false, bound, null, metric);
  }

  /** {@code side} reaches {@code times} the figure of {@code beside}, or more. */
  public static Target timesAtLeast(double times, String side, Metric metric, String beside) {
    return new Target(side, metric, true, times, beside, metric);
  }

  /** {@code side} stays at {@code times} the figure of {@code beside}, or below. */
  public static Target timesAtMost(double times, String side, Metric metric, String beside) {
    return new Target(side, metric, false, times, beside, metric);
  }

  /** As it is, but beside the other side's {@code figure}, of the same unit. */
  public Target besideIts(Metric figure) {
    return new Target(side, metric, atLeast, bound, beside, figure);
  }

  /** How a target came out. */
  public enum Verdict {
    MET("met"),
    MISSED("NOT MET"),
    UNMEASURED("not measured");

    final String words;

    Verdict(String words) {
      this.words = words;
    }
  }

  /** The figure or ratio that the bound is about, not a number where it was not measured. */
  double measured(List<Side> sides) {
    Side ours = named(side, sides);
    if (beside == null) {
      return ours == null ? Double.NaN : ours.figure(metric);
    }
    Side theirs = named(beside, sides);
    return ours == null || theirs == null ? Double.NaN : ours.ratio(metric, theirs, besideMetric);
  }

  public Verdict verdict(List<Side> sides) {
    double measured = measured(sides);
    if (Double.isNaN(measured)) {
      return Verdict.UNMEASURED;
    }
    return (atLeast ? measured >= bound : measured <= bound) ? Verdict.MET : Verdict.MISSED;
  }

  /** As the table says it. */
  String words() {
    String relation = atLeast ? " ≥ " : " ≤ ";
    String of = beside == null ? "" : " × " + beside;
    of += besideMetric == metric ? "" : ": " + besideMetric.title();
    return side + ": " + metric.title() + relation + Numbers.show(bound) + of;
  }

  private static @Nullable Side named(String name, List<Side> sides) {
    for (Side side : sides) {
      if (side.name().equals(name) && side.isMeasured()) {
        return side;
      }
    }
    return null;
  }
}
