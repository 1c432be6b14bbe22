package io.pawl.sql.dialect;

import io.pawl.spi.Diagnosable.Finding;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** What {@code doctor} looks at on MySQL and MariaDB. */
final class MySqlFindings {

  private static final Duration LONG_TRANSACTION = Duration.ofMinutes(1);

  /** Started in the server's own time zone, whatever the session's is. */
  private static final String OLDEST_TRANSACTION =
      "SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started,"
          + " COALESCE(CONVERT_TZ(NOW(), @@session.time_zone, 'SYSTEM'), NOW()))"
          + " FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID()"
          + " ORDER BY trx_started LIMIT 1";

  private static final String REPLICAS =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND LIKE 'Binlog Dump%'";

  private static final String GROUP =
      "SELECT me.MEMBER_STATE, me.MEMBER_ROLE, COUNT(*)"
          + " FROM performance_schema.replication_group_members AS me"
          + " JOIN performance_schema.replication_group_members AS every"
          + " WHERE me.MEMBER_ID = @@server_uuid AND me.MEMBER_STATE <> 'OFFLINE'"
          + " GROUP BY me.MEMBER_STATE, me.MEMBER_ROLE";

  private static final String SIZES =
      "SELECT /*+ SET_VAR(information_schema_stats_expiry=0) */ table_name, table_rows, COALESCE(data_length + index_length, 0) FROM information_schema.tables"
          + " WHERE table_schema = DATABASE() AND table_name IN ('pawl_lock', 'pawl_waiter',"
          + " 'pawl_counter', 'pawl_ledger', 'pawl_reservation') ORDER BY table_name";

  private static final String INDEX =
      "SELECT 1 FROM information_schema.statistics WHERE table_schema = DATABASE()"
          + " AND table_name = ? AND index_name = ? LIMIT 1";

  /** Tables with a name that is not compared byte for byte, and how it is. */
  static final String WRONG_COLLATIONS =
      "SELECT table_name, min(collation_name) FROM information_schema.columns"
          + " WHERE table_schema = DATABASE() AND column_name IN ('name', 'lock_name', 'counter',"
          + " 'id') AND table_name IN ('pawl_lock', 'pawl_waiter', 'pawl_counter', 'pawl_ledger',"
          + " 'pawl_reservation')"
          + " AND collation_name NOT IN ('utf8mb4_0900_bin', 'utf8mb4_nopad_bin')"
          + " GROUP BY table_name ORDER BY table_name";

  static final String COLLATE =
      "ALTER the column back to what pawl schema print has: names that differ are one to it, and"
          + " counters overwrite each other";

  private static final String SEE_SESSIONS = "GRANT PROCESS ON *.* lets it";

  private final Findings findings;
  private final boolean mariaDb;
  private final Duration longTransaction;
  private boolean inGroup;

  private MySqlFindings(Findings findings, boolean mariaDb, Duration longTransaction) {
    this.findings = findings;
    this.mariaDb = mariaDb;
    this.longTransaction = longTransaction;
  }

  static List<Finding> of(Connection reader, MySqlDialect dialect) throws SQLException {
    return of(reader, dialect, LONG_TRANSACTION);
  }

  /**
   * @param longTransaction a transaction that is open for as long is worth a warning
   */
  static List<Finding> of(Connection reader, MySqlDialect dialect, Duration longTransaction)
      throws SQLException {
    Findings findings = new Findings(reader, dialect);
    new MySqlFindings(findings, dialect.schema().equals("mariadb"), longTransaction).look();
    return findings.all();
  }

  private void look() throws SQLException {
    findings.ok("server " + findings.row("SELECT VERSION()").get(0));
    TableFindings.add(findings, SIZES, INDEX, TableFindings.MANY_BYTES);
    findings.look("collations", "", this::collations);
    expect(
        "innodb_flush_log_at_trx_commit",
        "1",
        "set it to 1, or a crash of the server's host forgets locks and repeats tokens");
    expect("read_only", "OFF", "connect to the primary");
    rowLocks();
    boolean seesSessions = findings.look("long transactions", SEE_SESSIONS, this::transactions);
    if (variable("log_bin").equals("ON")) {
      binaryLog();
    }
    if (!mariaDb) {
      findings.look(
          "group replication",
          "GRANT SELECT ON performance_schema.replication_group_members lets it",
          this::group);
    }
    if (variable("wsrep_on").equals("ON")) {
      findings.warning(
          "Galera",
          "let all clients of Pawl use one and the same node, and switch only when it is dead");
    }
    findings.look(
        "whether this server is a replica",
        "GRANT " + (mariaDb ? "SLAVE MONITOR" : "REPLICATION CLIENT") + " ON *.* lets it",
        this::source);
    if (!inGroup) {
      replicas(seesSessions);
    }
  }

  private void collations() throws SQLException {
    for (List<String> wrong : findings.rows(WRONG_COLLATIONS)) {
      findings.problem(wrongCollation(wrong.get(0), wrong.get(1)), COLLATE);
    }
  }

  static String wrongCollation(String table, String collation) {
    return "table " + table + " compares names as " + collation + ", not byte for byte";
  }

  private void rowLocks() throws SQLException {
    findings.ok(
        "innodb_lock_wait_timeout: "
            + variable("innodb_lock_wait_timeout")
            + " s, and 1 s for Pawl's transactions");
    if (variable("innodb_deadlock_detect").equals("OFF")) {
      findings.warning(
          "innodb_deadlock_detect: OFF",
          "turn it on, or whoever is in a deadlock waits for innodb_lock_wait_timeout");
    }
  }

  private void transactions() throws SQLException {
    List<String> oldest = findings.row(OLDEST_TRANSACTION);
    if (oldest.isEmpty() || Long.parseLong(oldest.get(1)) < longTransaction.toSeconds()) {
      findings.ok("no transaction is open for " + longTransaction.toSeconds() + " s");
      return;
    }
    boolean prepared = oldest.get(0).equals("0"); // it has outlived its session
    findings.warning(
        (prepared
                ? "a prepared XA transaction is"
                : "session " + oldest.get(0) + " has a transaction")
            + " open for "
            + oldest.get(1)
            + " s",
        (prepared ? "end it, as XA RECOVER names it" : "end it, or KILL " + oldest.get(0))
            + ": the server keeps every row that has changed since, and all wait whose rows it"
            + " locked");
  }

  private void binaryLog() throws SQLException {
    expect(
        "sync_binlog",
        "1",
        "set it to 1, or a replica promoted after a crash lacks the last commits");
    String format = variable("binlog_format");
    if (format.equals("STATEMENT")) {
      findings.problem(
          "binlog_format: STATEMENT", "set it to ROW: READ COMMITTED cannot write otherwise");
    } else {
      findings.ok("binlog_format: " + format);
    }
  }

  private void group() throws SQLException {
    List<String> member = findings.row(GROUP);
    if (member.isEmpty()) {
      return;
    }
    inGroup = true;
    String what = "group replication of " + member.get(2) + " members, this one is ";
    if (!member.get(0).equals("ONLINE")) {
      findings.problem(what + member.get(0), "connect to the primary");
    } else if (!member.get(1).equals("PRIMARY")) {
      findings.problem(what + member.get(1), "connect to the primary");
    } else if (variable("group_replication_single_primary_mode").equals("OFF")) {
      findings.warning(
          what + "one of several primaries",
          "let all clients of Pawl use one and the same primary, and switch only when it is dead");
    } else {
      findings.ok(what + "the primary");
    }
  }

  /** Whether this server follows another. */
  private void source() throws SQLException {
    for (List<String> source : sources()) {
      findings.warning(
          "this server is a replica of "
              + source.get(0)
              + (source.get(1).isEmpty() ? ", and stopped" : ", " + source.get(1) + " s behind"),
          "connect to the primary; if this one took its place, end its replication");
    }
  }

  /** Of each server that this one follows: its name, how far behind this one is. */
  private List<List<String>> sources() throws SQLException {
    return mariaDb
        ? findings.columns("SHOW ALL SLAVES STATUS", "Master_Host", "Seconds_Behind_Master")
        : findings.columns("SHOW REPLICA STATUS", "Source_Host", "Seconds_Behind_Source");
  }

  /** Servers that follow this one. */
  private void replicas(boolean seesSessions) throws SQLException {
    String side = variable("rpl_semi_sync_source_enabled").isEmpty() ? "master" : "source";
    if (variable("rpl_semi_sync_" + side + "_enabled").equals("ON")) {
      semiSynchronous(side);
    } else if (!seesSessions) {
      findings.unseen("replicas", SEE_SESSIONS);
    } else {
      String replicas = findings.row(REPLICAS).get(0);
      if (!replicas.equals("0")) {
        findings.warning(
            replicas + " replicas, asynchronous",
            "make replication semi-synchronous with AFTER_SYNC, or one that is promoted may lack"
                + " the last commits: locks are granted twice and tokens repeat");
      }
    }
  }

  private void semiSynchronous(String side) throws SQLException {
    String point = variable("rpl_semi_sync_" + side + "_wait_point");
    if (!point.equals("AFTER_SYNC")) {
      findings.warning(
          "semi-synchronous replication with " + point,
          "set AFTER_SYNC, or clients see grants that a promoted replica does not know");
    }
    if (status("Rpl_semi_sync_" + side + "_status").equals("ON")) {
      findings.ok(
          "semi-synchronous replication to "
              + status("Rpl_semi_sync_" + side + "_clients")
              + " replicas");
    } else {
      findings.warning(
          "semi-synchronous replication has become asynchronous, since no replica answers",
          "mend the replicas: one that is promoted now lacks the last commits");
    }
  }

  private void expect(String name, String expected, String fix) throws SQLException {
    findings.expect(name, variable(name), expected, fix);
  }

  /** Empty where this server has no such variable. */
  private String variable(String name) throws SQLException {
    return second(findings.row("SHOW GLOBAL VARIABLES WHERE Variable_name = ?", name));
  }

  private String status(String name) throws SQLException {
    return second(findings.row("SHOW GLOBAL STATUS WHERE Variable_name = ?", name));
  }

  private static String second(List<String> row) {
    return row.isEmpty() ? "" : row.get(1);
  }
}
