package io.pawl.sql.dialect;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;

/** How large Pawl's tables have become, and how far back they go. */
final class TableFindings {

  /** Usually. */
  static final long MANY_BYTES = 10L << 30;

  /** Of the first thousand counters, each by its index. */
  private static final String OLDEST_OPERATION =
      "SELECT min((SELECT l.at FROM pawl_ledger l WHERE l.counter = c.name"
          + " ORDER BY l.line LIMIT 1)) FROM"
          + " (SELECT name FROM pawl_counter ORDER BY name LIMIT 1000) c";

  private static final String PRIMARY_KEY = "PRIMARY";

  private static final String RESTORE = "restore it, or make it as pawl schema print has it";

  /**
   * What statements name of a table.
   *
   * @param indexes that its statements need, or are slow without
   */
  private record Needed(String table, String columns, List<String> indexes) {}

  private static final List<Needed> TABLES =
      List.of(
          new Needed("pawl_lock", Table.LOCK.columns(), List.of(PRIMARY_KEY)),
          new Needed(
              "pawl_waiter", Table.WAITER.columns(), List.of(PRIMARY_KEY, "pawl_waiter_by_lock")),
          new Needed(
              "pawl_counter",
              "name, value, floor, ceiling, reserved, forgotten, kept_from, last_line",
              List.of(PRIMARY_KEY)),
          new Needed(
              "pawl_ledger",
              "counter, id, line, operation, status, delta, value, at, issued, until",
              List.of(PRIMARY_KEY, "pawl_ledger_by_line")),
          new Needed("pawl_reservation", "counter, until, id", List.of()),
          new Needed("pawl_forgotten", "one, last_token, locks", List.of(PRIMARY_KEY)));

  private TableFindings() {}

  /**
   * @param manyBytes beyond this somebody should know
   * @param sizes a query for each table's name, about how many rows it has, and its bytes
   * @param index a query with a row where the table of the first parameter has the index of the
   *     second, which is {@code PRIMARY} for its primary key
   */
  static void add(Findings findings, String sizes, String index, long manyBytes)
      throws SQLException {
    for (Needed needed : TABLES) {
      if (findings.need(needed.table, needed.columns, RESTORE)) {
        addMissing(findings, needed, index);
      }
    }
    findings.look("tables", "", () -> addSizes(findings, sizes, manyBytes));
    findings.look(
        "ledgers",
        "GRANT SELECT ON pawl_counter and pawl_ledger lets it",
        () -> {
          String oldest = findings.row(OLDEST_OPERATION).get(0);
          if (!oldest.isEmpty()) {
            findings.ok("the oldest operation in a counter's ledger is of " + oldest + " UTC");
          }
        });
    findings.look(
        "locks forgotten",
        "GRANT SELECT ON pawl_forgotten lets it",
        () -> {
          List<String> forgotten =
              findings.row("SELECT locks, last_token FROM pawl_forgotten WHERE one = 1");
          if (forgotten.isEmpty()) {
            findings.problem(
                "table pawl_forgotten has lost its row: locks that have no row yet are refused",
                "insert (1, 0, 0), then run 'pawl tokens raise'");
          } else {
            findings.ok("purged so far: " + forgotten.get(0) + " locks");
          }
        });
  }

  private static void addMissing(Findings findings, Needed needed, String query)
      throws SQLException {
    for (String index : needed.indexes) {
      if (findings.rows(query, needed.table, index).isEmpty()) {
        String what = index.equals(PRIMARY_KEY) ? "primary key" : "index " + index;
        findings.problem("table " + needed.table + " has no " + what, RESTORE);
      }
    }
  }

  private static void addSizes(Findings findings, String sizes, long manyBytes)
      throws SQLException {
    long all = 0;
    for (List<String> table : findings.rows(sizes)) {
      long bytes = Long.parseLong(table.get(2));
      all += bytes;
      String rows =
          table.get(1).isEmpty() ? "rows not counted yet" : "about " + table.get(1) + " rows";
      findings.ok(table.get(0) + ": " + rows + ", " + megabytes(bytes));
    }
    if (all > manyBytes) {
      findings.warning(
          "Pawl's tables have " + megabytes(all),
          "let PawlOptions.retention, pawl purge or pawl counter prune forget what is old");
    }
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }
}
