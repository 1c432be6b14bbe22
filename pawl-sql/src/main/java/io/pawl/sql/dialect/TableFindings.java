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

  private static final List<String> TABLES =
      List.of(
          "pawl_lock",
          "pawl_waiter",
          "pawl_counter",
          "pawl_ledger",
          "pawl_reservation",
          "pawl_forgotten");

  private TableFindings() {}

  /**
   * @param manyBytes beyond this somebody should know
   * @param sizes a query for each table's name, about how many rows it has, and its bytes
   */
  static void add(Findings findings, String sizes, long manyBytes) throws SQLException {
    for (String table : TABLES) {
      findings.need(table);
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
