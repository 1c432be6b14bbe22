package io.pawl.sql.dialect;

import io.pawl.spi.Diagnosable.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What {@code doctor} looks at on PostgreSQL. */
final class PostgresFindings {

  /**
   * What is worth a warning.
   *
   * @param transaction open for as long
   * @param lagBytes of a standby, more than this
   * @param deadRows of a table, more than this, and than ten times those that live
   * @param tableBytes of all tables, more than this
   */
  record Limits(Duration transaction, long lagBytes, long deadRows, long tableBytes) {
    static final Limits USUAL =
        new Limits(Duration.ofMinutes(1), 16 << 20, 100_000, TableFindings.MANY_BYTES);
  }

  /**
   * Those that keep rows from being vacuumed, or that others may wait for; but one that began while
   * its session was read, before its snapshot was.
   */
  private static final String OLDEST_TRANSACTION =
      "SELECT pid, extract(epoch FROM clock_timestamp() - xact_start)::bigint"
          + " FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
          + " AND backend_type = 'client backend'"
          + " AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)"
          + " AND xact_start IS NOT NULL"
          + " ORDER BY xact_start LIMIT 1";

  private static final String OLDEST_PREPARED =
      "SELECT gid, extract(epoch FROM clock_timestamp() - prepared)::bigint"
          + " FROM pg_prepared_xacts ORDER BY prepared LIMIT 1";

  /** And logical subscribers, for which commits may wait too. */
  private static final String STANDBYS =
      "SELECT application_name, state, sync_state,"
          + " COALESCE(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn), 0)::bigint,"
          + " EXISTS (SELECT 1 FROM pg_replication_slots"
          + " WHERE active_pid = pid AND slot_type = 'logical')"
          + " FROM pg_stat_replication WHERE state <> 'backup' ORDER BY application_name";

  private static final String SIZES =
      "SELECT relname, coalesce(nullif(reltuples, -1)::bigint::text, ''), pg_total_relation_size(oid) FROM pg_class"
          + " WHERE relkind = 'r' AND relname IN ('pawl_lock', 'pawl_waiter', 'pawl_counter',"
          + " 'pawl_ledger', 'pawl_reservation') AND pg_table_is_visible(oid) ORDER BY relname";

  private static final String INDEX =
      "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
          + " WHERE indrelid = to_regclass(?) AND indisvalid"
          + " AND CASE WHEN indisprimary THEN 'PRIMARY' ELSE relname END = ?";

  private static final String DEAD_ROWS =
      "SELECT relname, n_dead_tup, n_live_tup FROM pg_stat_user_tables"
          + " WHERE relname LIKE 'pawl\\_%' AND pg_table_is_visible(relid)"
          + " AND n_dead_tup > ? AND n_dead_tup > 10 * n_live_tup ORDER BY relname";

  private static final String POSITIONS = "pg_get_serial_sequence('pawl_waiter', 'position')";

  /** A sequence is ahead of what others may see of the table. */
  private static final String BEHIND =
      "SELECT s.last, w.last FROM (SELECT coalesce(pg_sequence_last_value("
          + POSITIONS
          + "::regclass), 0) AS last) s, (SELECT max(position) AS last FROM pawl_waiter) w"
          + " WHERE s.last < w.last";

  private static final String SEE_POSITIONS =
      "GRANT SELECT ON pawl_waiter, pawl_waiter_position_seq lets it";

  private static final String MAY_SEE_POSITIONS =
      "SELECT has_sequence_privilege(" + POSITIONS + ", 'SELECT, USAGE')";

  private static final String HARM =
      "VACUUM removes no row that was deleted since, and all wait whose rows it locked";

  private static final String SEE_SESSIONS = "GRANT pg_read_all_stats lets it";

  private final Findings findings;
  private final Limits limits;

  private PostgresFindings(Findings findings, Limits limits) {
    this.findings = findings;
    this.limits = limits;
  }

  static List<Finding> of(Connection reader, PostgresDialect dialect) throws SQLException {
    return of(reader, dialect, Limits.USUAL);
  }

  static List<Finding> of(Connection reader, PostgresDialect dialect, Limits limits)
      throws SQLException {
    Findings findings = new Findings(reader, dialect);
    new PostgresFindings(findings, limits).look(dialect.isPooled());
    return findings.all();
  }

  private void look(boolean pooled) throws SQLException {
    findings.ok("PostgreSQL " + setting("server_version"));
    TableFindings.add(findings, SIZES, INDEX, limits.tableBytes());
    findings.expect(
        "pg_is_in_recovery",
        ask("SELECT pg_is_in_recovery()"),
        "f",
        "name the primary, not a standby");
    findings.expect("fsync", setting("fsync"), "on", "turn it on, or a crash may lose everything");
    String commit = setting("synchronous_commit");
    String standbys = setting("synchronous_standby_names");
    synchronousCommit(commit, standbys);
    if (ask("SELECT pg_has_role(current_user, 'pg_read_all_stats', 'USAGE')").equals("t")) {
      findings.look("standbys", "", () -> standbys(standbys));
      findings.look("long transactions", "", this::transactions);
    } else {
      findings.unseen("standbys", SEE_SESSIONS);
      findings.unseen("long transactions", SEE_SESSIONS);
    }
    findings.look("prepared transactions", "", this::preparedTransactions);
    findings.look("dead rows", "", this::deadRows);
    findings.look("positions in queues", SEE_POSITIONS, this::positions);
    if (pooled) {
      findings.ok("behind a pooler: waiters poll, since LISTEN may be deaf there");
    }
  }

  private void synchronousCommit(String commit, String standbys) {
    if (commit.equals("off")) {
      findings.problem(
          "synchronous_commit: off",
          "turn it on for this account, or a crash forgets locks and repeats tokens");
    } else if (commit.equals("local") && !standbys.isEmpty()) {
      findings.warning(
          "synchronous_commit: local, so that no commit waits for " + standbys,
          "turn it on for this account, or a standby that is promoted may lack the last commits");
    } else {
      findings.ok("synchronous_commit: " + commit);
    }
  }

  private void standbys(String synchronous) throws SQLException {
    List<List<String>> standbys = findings.rows(STANDBYS);
    for (List<String> standby : standbys) {
      String what =
          (isLogical(standby) ? "logical subscriber " : "standby ")
              + standby.get(0)
              + ": "
              + standby.get(2)
              + ", "
              + standby.get(1);
      long lag = Long.parseLong(standby.get(3));
      if (lag > limits.lagBytes && !isLogical(standby)) {
        findings.warning(
            what + ", " + lag + " bytes behind",
            "mend it: if it is promoted now, what it lacks is lost");
      } else {
        findings.ok(what + ", " + lag + " bytes behind");
      }
    }
    if (synchronous.isEmpty()) {
      if (!standbys.stream().allMatch(PostgresFindings::isLogical)) {
        findings.warning(
            "standbys are asynchronous",
            "set synchronous_standby_names, or one that is promoted may lack the last commits:"
                + " locks are granted twice and tokens repeat");
      }
    } else if (standbys.stream().noneMatch(standby -> isSynchronous(standby.get(2)))) {
      findings.problem(
          "synchronous_standby_names: " + synchronous + ", and none of them is connected",
          "start one, or no transaction commits");
    } else {
      findings.ok("synchronous_standby_names: " + synchronous);
    }
  }

  /** A copy of tables, which nobody promotes. */
  private static boolean isLogical(List<String> standby) {
    return standby.get(4).equals("t");
  }

  private static boolean isSynchronous(String state) {
    return state.equals("sync") || state.equals("quorum");
  }

  private void transactions() throws SQLException {
    List<String> oldest = findings.row(OLDEST_TRANSACTION);
    if (isLong(oldest)) {
      findings.warning(
          "session " + oldest.get(0) + " has a transaction open for " + oldest.get(1) + " s",
          "end it, or pg_terminate_backend(" + oldest.get(0) + "): " + HARM);
    } else {
      findings.ok("no transaction is open for " + limits.transaction.toSeconds() + " s");
    }
  }

  private void preparedTransactions() throws SQLException {
    List<String> oldest = findings.row(OLDEST_PREPARED);
    if (isLong(oldest)) {
      findings.warning(
          "prepared transaction " + oldest.get(0) + " is open for " + oldest.get(1) + " s",
          "end it by COMMIT PREPARED or ROLLBACK PREPARED: " + HARM);
    }
  }

  private boolean isLong(List<String> transaction) {
    return !transaction.isEmpty()
        && Long.parseLong(transaction.get(1)) >= limits.transaction.toSeconds();
  }

  private void deadRows() throws SQLException {
    if (setting("autovacuum").equals("off")) {
      findings.warning(
          "autovacuum: off",
          "turn it on, or VACUUM the tables pawl_* yourself: each grant leaves dead rows");
    }
    List<List<String>> tables = findings.rows(DEAD_ROWS, limits.deadRows);
    for (List<String> table : tables) {
      findings.warning(
          table.get(0) + " has " + table.get(1) + " dead rows beside " + table.get(2),
          "VACUUM it, and see that autovacuum comes and that no long transaction stops it");
    }
    if (tables.isEmpty()) {
      findings.ok("dead rows: VACUUM keeps up");
    }
  }

  /** After a switch-over by logical replication, or a restore of the tables alone. */
  private void positions() throws SQLException {
    if (ask(MAY_SEE_POSITIONS).equals("f")) { // then PostgreSQL 18 says that it was never used
      findings.unseen("positions in queues", SEE_POSITIONS);
      return;
    }
    List<String> behind = findings.row(BEHIND);
    if (behind.isEmpty()) {
      findings.ok("positions in queues grow");
    } else {
      findings.problem(
          "newcomers get positions after "
              + behind.get(0)
              + ", before waiters at "
              + behind.get(1)
              + ": the sequence was not replicated",
          "SELECT setval(" + POSITIONS + ", (SELECT coalesce(max(position), 1) FROM pawl_waiter))");
    }
  }

  private String setting(String name) throws SQLException {
    return ask("SHOW " + name);
  }

  private String ask(String query) throws SQLException {
    return findings.row(query).get(0);
  }
}
