package io.pawl.bench.report;

import java.util.ArrayList;
import java.util.List;

/** The report for a terminal. */
public final class Table {

  private Table() {}

  public static String of(List<Section> sections) {
    StringBuilder text = new StringBuilder();
    for (Section section : sections) {
      text.append(section.suite()).append(": ").append(section.title()).append('\n');
      lines(section).forEach(line -> text.append("  ").append(line).append('\n'));
      for (Target target : section.targets()) {
        text.append("  target  ").append(judged(target, section.sides())).append('\n');
      }
      section.notes().forEach(note -> text.append("  note    ").append(note).append('\n'));
      text.append('\n');
    }
    return text.toString();
  }

  private static String judged(Target target, List<Side> sides) {
    Target.Verdict verdict = target.verdict(sides);
    if (verdict == Target.Verdict.UNMEASURED) {
      return target.words() + ": " + verdict.words;
    }
    String unit = target.beside() == null ? "" : " ×";
    String measured = Numbers.show(target.measured(sides)) + unit;
    return target.words() + ": " + measured + ", " + verdict.words;
  }

  /** Columns as wide as their widest cell, numbers to the right. */
  private static List<String> lines(Section section) {
    List<List<String>> rows = new ArrayList<>();
    List<Metric> metrics = section.metrics();
    List<String> head = new ArrayList<>(List.of(""));
    metrics.forEach(metric -> head.add(metric.title()));
    rows.add(head);
    for (Side side : section.sides()) {
      List<String> row = new ArrayList<>(List.of(side.name()));
      metrics.forEach(metric -> row.add(Numbers.show(side.figure(metric))));
      rows.add(row);
    }
    int[] widths = new int[head.size()];
    for (List<String> row : rows) {
      for (int column = 0; column < widths.length; column++) {
        widths[column] = Math.max(widths[column], row.get(column).length());
      }
    }
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(List<String> row, int[] widths) {
    StringBuilder line = new StringBuilder(row.get(0));
    line.append(" ".repeat(widths[0] - row.get(0).length()));
    for (int column = 1; column < widths.length; column++) {
      String cell = row.get(column);
      line.append(" ".repeat(widths[column] - cell.length() + 2)).append(cell);
    }
    return line.toString().stripTrailing();
  }
}
