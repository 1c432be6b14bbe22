package io.pawl.bench;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The report as an SVG picture: a bar a side, on a logarithmic scale where they lie far apart. */
final class Plot {

  private static final int WIDTH = 900;
  private static final int LABELS = 260;
  private static final int BARS = 420;
  private static final int BAR = 16;
  private static final int STEP = 24;
  private static final int GAP = 34;
  private static final double FAR_APART = 20;

  private final StringBuilder svg = new StringBuilder();
  private int y = 30;

  private Plot() {}

  static String of(Map<String, String> machine, List<Section> sections) {
    Plot plot = new Plot();
    sections.forEach(plot::add);
    plot.footer(machine);
    return String.format(
        Locale.ROOT,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
            + " font-family=\"sans-serif\" font-size=\"12\">%n"
            + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n%s</svg>%n",
        WIDTH,
        plot.y + 20,
        plot.svg);
  }

  private void add(Section section) {
    Metric metric = section.main();
    double most = section.sides().stream().mapToDouble(s -> s.figure(metric)).max().orElse(1);
    double least = section.sides().stream().mapToDouble(s -> s.figure(metric)).min().orElse(1);
    boolean logarithmic = most / least > FAR_APART;
    String scale = logarithmic ? ", logarithmic" : "";
    String title = section.suite() + ": " + section.title();
    text(10, "start", "bold", title + " (" + metric.title() + scale + ")");
    y += STEP;
    for (Side side : section.sides()) {
      double value = side.figure(metric);
      double share =
          logarithmic
              ? (Math.log10(value / least) + 0.3) / (Math.log10(most / least) + 0.3)
              : value / most;
      boolean ours = side.name().startsWith("Pawl");
      text(LABELS - 8, "end", "normal", side.name());
      svg.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>%n",
              LABELS,
              y - BAR + 3,
              Math.max(1, BARS * share),
              BAR,
              ours ? "#2a6f97" : "#b8b8b8"));
      int end = LABELS + 6 + (int) (BARS * share);
      text(end, "start", "normal", Numbers.show(value) + detail(side));
      y += STEP;
    }
    y += GAP - STEP / 2;
  }

  private static String detail(Side side) {
    return side.has(Metric.P99)
        ? "   p50 "
            + Numbers.show(side.figure(Metric.P50))
            + ", p99 "
            + Numbers.show(side.figure(Metric.P99))
            + " µs"
        : "";
  }

  private void footer(Map<String, String> machine) {
    text(
        10,
        "start",
        "normal",
        String.join(
            " · ",
            machine.getOrDefault("cores", "") + " cores " + machine.getOrDefault("cpu", ""),
            machine.getOrDefault("java", ""),
            machine.getOrDefault("forks", "") + " forks of " + machine.get("seconds") + " s",
            machine.getOrDefault("time", "")));
  }

  private void text(int x, String anchor, String weight, String words) {
    String escaped = words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    svg.append(
        String.format(
            Locale.ROOT,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" font-weight=\"%s\">%s</text>%n",
            x,
            y,
            anchor,
            weight,
            escaped));
  }
}
