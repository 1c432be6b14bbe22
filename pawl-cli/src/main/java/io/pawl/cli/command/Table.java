package io.pawl.cli.command;

import java.util.ArrayList;
import java.util.List;

/** Columns as wide as what stands in them. */
public final class Table {

  private final List<String[]> rows = new ArrayList<>();

  public Table(String... titles) {
    rows.add(titles);
  }

  public void row(String... cells) {
    rows.add(cells);
  }

  public List<String> lines() {
    int[] widths = new int[rows.get(0).length];
    for (String[] row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], width(row[i]));
      }
    }
    return rows.stream().map(row -> line(row, widths)).toList();
  }

  private static String line(String[] row, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < row.length - 1; i++) {
      line.append(row[i]).append(" ".repeat(widths[i] - width(row[i]) + 2));
    }
    return line.append(row[row.length - 1]).toString();
  }

  private static int width(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}
