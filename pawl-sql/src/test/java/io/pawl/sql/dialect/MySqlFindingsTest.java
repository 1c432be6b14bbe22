package io.pawl.sql.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.MySqlServer;
import io.pawl.servers.MySqlServer.Flavour;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.SqlSchema;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MySqlFindingsTest implements Doctor {

  private static final String[] LOGGING = {"--log-bin=bin", "--sync-binlog=1", "--server-id=1"};

  private static final Map<Flavour, MySqlServer> servers = new EnumMap<>(Flavour.class);

  private MySqlDialect dialect;
  private Duration longTransaction = Duration.ofMinutes(1);

  @AfterAll
  static void stop() {
    servers.values().forEach(MySqlServer::close);
  }

  /** To the server that the tests share, which is healthy. */
  private Connection connect(Flavour flavour) throws SQLException {
    MySqlServer server =
        servers.computeIfAbsent(flavour, of -> prepare(MySqlServer.start(of, LOGGING)));
    return observe(flavour, server);
  }

  private static MySqlServer prepare(MySqlServer server) {
    SqlSchema.apply(
        StoreUrl.parse(
            server.jdbcUrl() + "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD));
    return server;
  }

  private Connection observe(Flavour flavour, MySqlServer server) throws SQLException {
    dialect =
        flavour == Flavour.MYSQL
            ? MySqlDialect.mySql(true, true)
            : MySqlDialect.mariaDb(true, true);
    Connection admin = connect(server);
    awaitHealthy(admin);
    return admin;
  }

  private static Connection connect(MySqlServer server) throws SQLException {
    return Doctor.connect(
        server.jdbcUrl() + "?allowPublicKeyRetrieval=true", MySqlServer.USER, MySqlServer.PASSWORD);
  }

  @Override
  public List<Finding> findings(Connection connection) throws SQLException {
    return MySqlFindings.of(connection, dialect, longTransaction);
  }

  @ParameterizedTest
  @EnumSource
  void eachSettingThatIsWrongIsNamed(Flavour flavour) throws SQLException {
    try (Connection admin = connect(flavour)) {
      assertWrong(admin, "innodb_flush_log_at_trx_commit", "2", "1", Level.PROBLEM);
      assertWrong(admin, "sync_binlog", "0", "1", Level.PROBLEM);
      assertWrong(admin, "binlog_format", "'STATEMENT'", "'ROW'", Level.PROBLEM);
      assertWrong(admin, "innodb_deadlock_detect", "OFF", "ON", Level.WARNING);
      assertWrong(admin, "read_only", "ON", "OFF", Level.PROBLEM);
    }
  }

  private void assertWrong(
      Connection admin, String variable, String wrong, String right, Level level)
      throws SQLException {
    Doctor.run(admin, "SET GLOBAL " + variable + " = " + wrong);
    awaitOnly(admin, level, variable + ": " + wrong.replace("'", ""));
    Doctor.run(admin, "SET GLOBAL " + variable + " = " + right);
    awaitHealthy(admin);
  }

  @ParameterizedTest
  @EnumSource
  void aTransactionThatStaysOpenIsNamedByItsSession(Flavour flavour) throws SQLException {
    try (Connection admin = connect(flavour);
        Connection other = connect(servers.get(flavour))) {
      Doctor.run(admin, "SET time_zone = '-09:00'");
      longTransaction = Duration.ZERO;
      awaitHealthy(admin);
      Doctor.run(other, "START TRANSACTION", "SELECT * FROM pawl_lock FOR UPDATE");

      awaitOnly(admin, Level.WARNING, " has a transaction open for ");

      longTransaction = Duration.ofMinutes(1);
      awaitHealthy(admin); // it began less than a minute ago, in any time zone
      longTransaction = Duration.ZERO;
      Doctor.run(other, "ROLLBACK");
      awaitHealthy(admin);
    }
  }

  /** As that of a view. */
  @ParameterizedTest
  @EnumSource
  void aTableWhoseSizeIsUnknownDoesNotEndTheDoctor(Flavour flavour) throws SQLException {
    try (Connection admin = connect(flavour)) {
      Doctor.run(
          admin,
          "RENAME TABLE pawl_reservation TO elsewhere",
          "CREATE VIEW pawl_reservation AS SELECT * FROM elsewhere");

      awaitHealthy(admin);

      Doctor.run(admin, "DROP VIEW pawl_reservation", "RENAME TABLE elsewhere TO pawl_reservation");
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatTheAccountMayNotSeeIsSaidToBeUnseen(Flavour flavour) throws SQLException {
    try (Connection admin = connect(flavour)) {
      Doctor.run(
          admin,
          "CREATE USER clerk IDENTIFIED BY 'clerk'",
          "GRANT SELECT ON pawl.pawl_lock TO clerk");
      try (Connection clerk =
          Doctor.connect(
              servers.get(flavour).jdbcUrl() + "?allowPublicKeyRetrieval=true", "clerk", "clerk")) {
        assertThat(findings(clerk))
            .allSatisfy(finding -> assertThat(finding.level()).isEqualTo(Level.OK))
            .filteredOn(finding -> finding.what().contains("not looked at"))
            .hasSizeGreaterThanOrEqualTo(3)
            .allSatisfy(finding -> assertThat(finding.fix()).startsWith("GRANT "));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void bothSidesOfAReplicationSaySo(Flavour flavour) throws SQLException {
    try (Connection admin = connect(flavour);
        MySqlServer follower =
            MySqlServer.start(flavour, "--log-bin=bin", "--sync-binlog=1", "--server-id=2");
        Connection replica = connect(follower)) {
      follow(flavour, servers.get(flavour), replica);

      awaitOnly(admin, Level.WARNING, "1 replicas, asynchronous");
      awaitOnly(replica, Level.WARNING, "this server is a replica of 127.0.0.1, 0 s behind");

      boolean maria = flavour == Flavour.MARIADB;
      if (!maria) {
        Doctor.run(admin, "INSTALL PLUGIN rpl_semi_sync_source SONAME 'semisync_source.so'");
        Doctor.run(replica, "INSTALL PLUGIN rpl_semi_sync_replica SONAME 'semisync_replica.so'");
      }
      String source = "SET GLOBAL rpl_semi_sync_" + (maria ? "master" : "source");
      Doctor.run(
          admin,
          source + "_timeout = 1",
          source + "_wait_point = 'AFTER_SYNC'", // not MariaDB's default
          source + "_enabled = ON");
      Doctor.run(
          replica,
          "SET GLOBAL rpl_semi_sync_" + (maria ? "slave" : "replica") + "_enabled = ON",
          maria ? "STOP SLAVE" : "STOP REPLICA");
      Doctor.run(admin, "CREATE TABLE committed (id INT PRIMARY KEY)");
      awaitOnly(admin, Level.WARNING, "has become asynchronous");

      Doctor.run(admin, source + "_timeout = 10000");
      Doctor.run(replica, maria ? "START SLAVE" : "START REPLICA");
      awaitHealthy(admin);
      Doctor.run(admin, source + "_wait_point = 'AFTER_COMMIT'");
      awaitOnly(admin, Level.WARNING, "semi-synchronous replication with AFTER_COMMIT");

      Doctor.run(replica, maria ? "STOP SLAVE" : "STOP REPLICA");
      awaitOnly(replica, Level.WARNING, "this server is a replica of 127.0.0.1, and stopped");
      Doctor.run(replica, maria ? "RESET SLAVE ALL" : "RESET REPLICA ALL");
      awaitHealthy(replica);
      endDumps(admin); // which notice that nobody reads when they next send something
      Doctor.run(admin, source + "_enabled = OFF", source + "_wait_point = 'AFTER_SYNC'");
      awaitHealthy(admin);
    }
  }

  private static void endDumps(Connection admin) throws SQLException {
    try (Statement statement = admin.createStatement();
        ResultSet dumps =
            statement.executeQuery(
                "SELECT id FROM information_schema.PROCESSLIST"
                    + " WHERE COMMAND LIKE 'Binlog Dump%'")) {
      while (dumps.next()) {
        Doctor.run(admin, "KILL " + dumps.getLong(1));
      }
    }
  }

  private void follow(Flavour flavour, MySqlServer source, Connection replica) throws SQLException {
    String where =
        "%1$s_HOST='%2$s', %1$s_PORT=%3$d, %1$s_USER='%4$s', %1$s_PASSWORD='%5$s', %1$s_SSL=0";
    if (flavour == Flavour.MARIADB) {
      Doctor.run(replica, "CHANGE MASTER TO " + where(where, source, "MASTER"), "START SLAVE");
    } else {
      Doctor.run(
          replica,
          "CHANGE REPLICATION SOURCE TO "
              + where(where, source, "SOURCE")
              + ", GET_SOURCE_PUBLIC_KEY=1",
          "START REPLICA");
    }
  }

  private String where(String format, MySqlServer source, String side) {
    return String.format(
        format, side, source.host(), source.port(), MySqlServer.USER, MySqlServer.PASSWORD);
  }

  @Test
  void severalPrimariesOfAGroupAreWarnedOf() throws SQLException, IOException {
    try (MySqlServer member =
            MySqlServer.start(
                Flavour.MYSQL,
                "--server-id=1",
                "--gtid-mode=ON",
                "--enforce-gtid-consistency=ON",
                "--plugin-load-add=group_replication.so",
                "--loose-group-replication-start-on-boot=OFF",
                "--loose-group-replication-group-name=7c0e4b52-93a8-4c5e-9d0f-2f5b6f6f0c11",
                "--loose-group-replication-local-address=127.0.0.1:" + freePort(),
                "--loose-group-replication-single-primary-mode=ON",
                "--loose-group-replication-enforce-update-everywhere-checks=OFF");
        Connection admin = observe(Flavour.MYSQL, prepare(member))) {
      Doctor.run(
          admin,
          "SET GLOBAL group_replication_bootstrap_group = ON",
          "START GROUP_REPLICATION USER='"
              + MySqlServer.USER
              + "', PASSWORD='"
              + MySqlServer.PASSWORD
              + "'");
      awaitHealthy(admin);
      assertThat(findings(admin))
          .extracting(Finding::what)
          .contains("group replication of 1 members, this one is the primary");

      Doctor.run(admin, "SELECT group_replication_switch_to_multi_primary_mode()");
      awaitOnly(admin, Level.WARNING, "one of several primaries");
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
