package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.PostgresServer;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.SqlSchema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.replication.LogSequenceNumber;
import org.postgresql.replication.PGReplicationConnection;
import org.postgresql.replication.PGReplicationStream;

class PostgresFindingsTest implements Doctor {

  private static final PostgresFindings.Limits AT_ONCE =
      new PostgresFindings.Limits(Duration.ZERO, 16 << 20, 20, TableFindings.MANY_BYTES);

  private static PostgresServer server;

  private PostgresFindings.Limits limits = PostgresFindings.Limits.USUAL;
  private Connection admin;

  @BeforeAll
  static void start() {
    server = PostgresServer.start("fsync=on", "max_prepared_transactions=2", "wal_level=logical");
    SqlSchema.apply(
        StoreUrl.parse(
            server.jdbcUrl()
                + "?user="
                + PostgresServer.USER
                + "&password="
                + PostgresServer.PASSWORD));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect() throws SQLException {
    admin = connect("");
    awaitHealthy(admin);
  }

  @AfterEach
  void isHealthyAgain() throws SQLException {
    limits = PostgresFindings.Limits.USUAL;
    awaitHealthy(admin);
    admin.close();
  }

  private static Connection connect(String parameters) throws SQLException {
    return Doctor.connect(
        server.jdbcUrl() + parameters, PostgresServer.USER, PostgresServer.PASSWORD);
  }

  @Override
  public List<Finding> findings(Connection connection) throws SQLException {
    return PostgresFindings.of(connection, new PostgresDialect(true, true, 0), limits);
  }

  private void set(String setting, String value) throws SQLException {
    Doctor.run(admin, "ALTER SYSTEM SET " + setting + " = " + value, "SELECT pg_reload_conf()");
  }

  private void reset(String setting) throws SQLException {
    Doctor.run(admin, "ALTER SYSTEM RESET " + setting, "SELECT pg_reload_conf()");
  }

  @Test
  void tablesThatHaveBecomeLargeAreAWarning() throws SQLException {
    assertThat(findings(admin))
        .anyMatch(finding -> finding.what().startsWith("pawl_ledger: rows not counted yet"));
    limits = new PostgresFindings.Limits(Duration.ofMinutes(1), 16 << 20, 100_000, 1);
    awaitOnly(admin, Level.WARNING, "Pawl's tables have");
  }

  @Test
  void anAccountWhoseCommitsWaitForNothingIsAProblem() throws SQLException {
    try (Connection hasty = connect("?options=-c%20synchronous_commit=off")) {
      awaitOnly(hasty, Level.PROBLEM, "synchronous_commit: off");
    }
  }

  @Test
  void aTransactionThatStaysOpenIsNamedByItsSession() throws SQLException {
    limits = AT_ONCE;
    try (Connection other = connect("")) {
      other.setAutoCommit(false);
      Doctor.run(other, "SELECT txid_current()");
      int pid = other.unwrap(PGConnection.class).getBackendPID();

      awaitOnly(admin, Level.WARNING, "session " + pid + " has a transaction open for ");

      other.rollback();
      awaitHealthy(admin);
    }
  }

  /** Its start and its snapshot are not read at one moment. */
  @Test
  void aTransactionThatBeginsAsTheDoctorLooksIsNotOpenForLong() throws SQLException {
    Doctor.run(
        admin,
        "CREATE SCHEMA beginning",
        "CREATE VIEW beginning.pg_stat_activity AS SELECT 0 AS pid, 'client backend' AS"
            + " backend_type, NULL::timestamptz AS xact_start, 7 AS backend_xmin, NULL AS"
            + " backend_xid");
    try (Connection looking = connect("?currentSchema=beginning,pg_catalog,public")) {
      awaitHealthy(looking);
    }
    Doctor.run(admin, "DROP SCHEMA beginning CASCADE");
  }

  @Test
  void aPreparedTransactionThatNobodyEndsIsNamed() throws SQLException {
    limits = AT_ONCE;
    Doctor.run(admin, "BEGIN", "SELECT txid_current()", "PREPARE TRANSACTION 'forgotten'");

    awaitOnly(admin, Level.WARNING, "prepared transaction forgotten");

    Doctor.run(admin, "ROLLBACK PREPARED 'forgotten'");
  }

  /** As after a switch-over by logical replication. */
  @Test
  void aSequenceThatStandsBehindItsTableIsAProblem() throws SQLException {
    Doctor.run(
        admin, "INSERT INTO pawl_waiter (position, lock_name, claims) VALUES (7, 'x', '[]')");

    awaitOnly(admin, Level.PROBLEM, "newcomers get positions after 0, before waiters at 7");

    Doctor.run(
        admin,
        "SELECT setval(pg_get_serial_sequence('pawl_waiter', 'position'),"
            + " (SELECT coalesce(max(position), 1) FROM pawl_waiter))");
    awaitHealthy(admin);
    Doctor.run(admin, "DELETE FROM pawl_waiter");
  }

  @Test
  void deadRowsThatNobodyVacuumsAreCounted() throws SQLException {
    limits = AT_ONCE;
    Doctor.run(
        admin,
        "ALTER TABLE pawl_lock SET (autovacuum_enabled = false)",
        "INSERT INTO pawl_lock (name, kind, last_token, holders, queued, withdrawn, used)"
            + " VALUES ('x', '', 0, '[]', 0, '[]', now())");
    for (int i = 0; i < 30; i++) {
      Doctor.run(admin, "UPDATE pawl_lock SET last_token = last_token + 1");
    }

    awaitOnly(admin, Level.WARNING, "pawl_lock has ");

    Doctor.run(admin, "DELETE FROM pawl_lock", "VACUUM pawl_lock");
    Doctor.run(admin, "ALTER TABLE pawl_lock RESET (autovacuum_enabled)");
  }

  @Test
  void aServerWithoutAutovacuumIsWarnedOf() throws SQLException {
    set("autovacuum", "off");

    awaitOnly(admin, Level.WARNING, "autovacuum: off");

    reset("autovacuum");
  }

  @Test
  void synchronousStandbysOfWhichNoneIsThereAreAProblem() throws SQLException {
    set("synchronous_standby_names", "'nobody'");

    awaitOnly(admin, Level.PROBLEM, "synchronous_standby_names: nobody, and none of them");

    reset("synchronous_standby_names");
  }

  @Test
  void commitsThatWaitForNoSynchronousStandbyAreWarnedOf() throws SQLException {
    try (Connection replication = standby();
        PGReplicationStream stream = follow(replication);
        Connection hasty = connect("?options=-c%20synchronous_commit=local")) {
      assertThat(stream.isClosed()).isFalse();
      set("synchronous_standby_names", "'*'");

      awaitOnly(hasty, Level.WARNING, "synchronous_commit: local");

      reset("synchronous_standby_names");
    }
  }

  @Test
  void asynchronousStandbysAreWarnedOf() throws SQLException {
    try (Connection replication = standby();
        PGReplicationStream stream = follow(replication)) {
      assertThat(stream.isClosed()).isFalse();

      awaitOnly(admin, Level.WARNING, "standbys are asynchronous");
    }
  }

  @Test
  void aStandbyThatFallsBehindIsWarnedOfAndOneThatDoesNotIsWell() throws SQLException {
    try (Connection replication = standby();
        PGReplicationStream stream = follow(replication)) {
      set("synchronous_standby_names", "'*'");
      awaitHealthy(admin);

      limits =
          new PostgresFindings.Limits(
              Duration.ofMinutes(1), 1_000, 100_000, TableFindings.MANY_BYTES);
      Doctor.run(
          admin,
          "SET synchronous_commit = local",
          "CREATE TABLE written AS SELECT repeat('x', 100) FROM generate_series(1, 1000)",
          "DROP TABLE written",
          "SET synchronous_commit = on");
      awaitOnly(admin, Level.WARNING, " bytes behind");

      assertThat(stream.isClosed()).isFalse();
      reset("synchronous_standby_names");
    }
  }

  /** It copies tables elsewhere, and is never promoted. */
  @Test
  void aLogicalSubscriberIsNoStandby() throws SQLException {
    try (Connection replication = standby("database")) {
      PGReplicationConnection api = replication.unwrap(PGConnection.class).getReplicationAPI();
      api.createReplicationSlot()
          .logical()
          .withSlotName("changes")
          .withOutputPlugin("pgoutput")
          .withTemporaryOption()
          .make();
      try (PGReplicationStream stream =
          api.replicationStream()
              .logical()
              .withSlotName("changes")
              .withSlotOption("proto_version", 1)
              .withSlotOption("publication_names", "changes")
              .start()) {
        assertThat(stream.isClosed()).isFalse();

        awaitHealthy(admin);
        assertThat(findings(admin))
            .anyMatch(finding -> finding.what().startsWith("logical subscriber "));
      }
    }
  }

  /** A connection on which the server sends its log, as it does to a standby. */
  private static Connection standby() throws SQLException {
    return standby("true");
  }

  private static Connection standby(String replication) throws SQLException {
    Properties properties = new Properties();
    properties.setProperty("user", PostgresServer.USER);
    properties.setProperty("password", PostgresServer.PASSWORD);
    properties.setProperty("replication", replication);
    properties.setProperty("assumeMinServerVersion", "13");
    properties.setProperty("preferQueryMode", "simple");
    return DriverManager.getConnection(server.jdbcUrl(), properties);
  }

  /** Says that everything until now is on its disk. */
  private PGReplicationStream follow(Connection replication) throws SQLException {
    LogSequenceNumber now;
    try (var statement = admin.createStatement();
        var row = statement.executeQuery("SELECT pg_current_wal_lsn()")) {
      row.next();
      now = LogSequenceNumber.valueOf(row.getString(1));
    }
    PGReplicationStream stream =
        replication
            .unwrap(PGConnection.class)
            .getReplicationAPI()
            .replicationStream()
            .physical()
            .withStartPosition(now)
            .start();
    stream.setFlushedLSN(now);
    stream.setAppliedLSN(now);
    stream.forceUpdateStatus();
    return stream;
  }

  @Test
  void whatTheAccountMayNotSeeIsSaidToBeUnseen() throws SQLException {
    Doctor.run(
        admin,
        "CREATE USER clerk PASSWORD 'clerk'",
        "GRANT SELECT ON pawl_lock, pawl_counter, pawl_ledger TO clerk");
    try (Connection clerk = Doctor.connect(server.jdbcUrl(), "clerk", "clerk")) {
      assertThat(findings(clerk))
          .allSatisfy(finding -> assertThat(finding.level()).isEqualTo(Level.OK))
          .filteredOn(finding -> finding.what().contains("not looked at"))
          .extracting(Finding::fix)
          .containsExactly(
              "GRANT SELECT ON pawl_forgotten lets it",
              "GRANT pg_read_all_stats lets it",
              "GRANT pg_read_all_stats lets it",
              "GRANT SELECT ON pawl_waiter, pawl_waiter_position_seq lets it");

      Doctor.run(admin, "GRANT SELECT ON pawl_waiter TO clerk");
      assertThat(findings(clerk))
          .extracting(Finding::fix)
          .contains("GRANT SELECT ON pawl_waiter, pawl_waiter_position_seq lets it");

      Doctor.run(
          admin,
          "GRANT pg_read_all_stats TO clerk",
          "GRANT SELECT ON pawl_forgotten, pawl_waiter, pawl_waiter_position_seq TO clerk");
      awaitHealthy(clerk);
    }
  }
}
