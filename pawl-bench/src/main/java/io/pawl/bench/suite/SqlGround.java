package io.pawl.bench.suite;

import io.pawl.bench.BenchException;
import io.pawl.bench.contest.ContestSuite;
import io.pawl.bench.contest.ExclusionViolation;
import io.pawl.bench.rival.SqlFlavour;
import io.pawl.bench.rival.SqlPool;
import io.pawl.servers.ServerProcess;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** A database server of our own, with the durability that it has unless told otherwise. */
final class SqlGround implements ContestSuite.Ground {

  static final int CENTRAL_ROWS = 100;

  private final SqlFlavour flavour;
  private final ServerProcess server;
  private final Connection admin;
  private int places;

  /**
   * @param options what the server sets beside its defaults
   */
  SqlGround(SqlFlavour flavour, String... options) {
    this.flavour = flavour;
    this.server = flavour.start(options);
    try {
      this.admin = DriverManager.getConnection(flavour.url(server, ""));
    } catch (SQLException e) {
      server.close();
      throw new BenchException("cannot connect to " + flavour.title, e);
    }
    if (!flavour.isPostgres()) {
      run("SET GLOBAL innodb_monitor_enable = 'trx_rw_commits'"); // off by default
    }
  }

  /**
   * A database (PostgreSQL: schema) of its own, with the tables of all rivals; Pawl makes its own.
   */
  @Override
  public String fresh() {
    String kind = flavour.isPostgres() ? "SCHEMA " : "DATABASE ";
    String before = "bench_" + places;
    String place = "bench_" + ++places;
    run("DROP " + kind + "IF EXISTS " + before + (flavour.isPostgres() ? " CASCADE" : ""));
    run("CREATE " + kind + place);
    run(flavour.isPostgres() ? "SET search_path = " + place : "USE " + place);
    String key =
        flavour.isPostgres() ? "BIGINT GENERATED ALWAYS AS IDENTITY" : "BIGINT AUTO_INCREMENT";
    String time = flavour.isPostgres() ? "TIMESTAMP" : "DATETIME(6)";
    run("CREATE TABLE center_lock (id INT PRIMARY KEY)");
    run(
        "CREATE TABLE named_lock (id "
            + key
            + " PRIMARY KEY, lock_name VARCHAR(200) NOT NULL UNIQUE, entries BIGINT NOT NULL,"
            + " deadline BIGINT NOT NULL, owner VARCHAR(64), status INT NOT NULL)");
    run(
        "CREATE TABLE guarded_lock (name VARCHAR(200) PRIMARY KEY, owner VARCHAR(64), expires "
            + time
            + ")");
    run(
        "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,"
            + " CLIENT_ID CHAR(36), CREATED_DATE "
            + time
            + " NOT NULL, EXPIRED_AFTER "
            + time
            + " NOT NULL, PRIMARY KEY (LOCK_KEY, REGION))");
    run("CREATE TABLE protected_row (id INT PRIMARY KEY, v BIGINT NOT NULL)");
    for (int row = 0; row < CENTRAL_ROWS; row++) {
      run("INSERT INTO center_lock VALUES (" + row + ")");
      run("INSERT INTO protected_row VALUES (" + row + ", 0)");
    }
    return flavour.url(server, place);
  }

  @Override
  public OptionalLong cpuNanos() {
    return server.cpuNanos();
  }

  @Override
  public OptionalLong operations() {
    return OptionalLong.of(count(flavour.operations));
  }

  long commits() {
    return count(flavour.commits);
  }

  long logBytes() {
    return count(flavour.logBytes);
  }

  private long count(String sql) {
    return Long.parseLong(ask(sql, 2));
  }

  @Override
  public List<String> notes() {
    List<String> settings = new ArrayList<>();
    for (String setting : flavour.settings) {
      String name = setting.replaceAll("^@@|current_setting\\('|'\\)", "");
      settings.add(name + "=" + ask("SELECT " + setting, 1));
    }
    return List.of(
        flavour.title
            + " "
            + ask("SELECT version()", 1).replaceFirst("^PostgreSQL ", "").replaceFirst(" on .*", "")
            + " with its own defaults: "
            + String.join(", ", settings),
        "rivals: HikariCP, "
            + SqlPool.USUAL_SIZE
            + " connections a JVM ("
            + flavour.sessionLock
            + ": "
            + SqlPool.SESSIONS
            + "), prepared statements; a busy lock is asked for again after 0.5 to 1.5 ms,"
            + " by JdbcLockRegistry after its own 100 ms",
        "store ops: "
            + (flavour.isPostgres() ? "transactions" : "statements")
            + ", those of set-up too");
  }

  @Override
  public void checkRows(String address, long writes) {
    long sum = Long.parseLong(ask("SELECT sum(v) FROM protected_row", 1));
    if (sum != writes) {
      throw new ExclusionViolation(
          "of " + writes + " rows written under their locks " + sum + " writes are left");
    }
  }

  String ask(String sql, int column) {
    try (Statement statement = admin.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(column);
    } catch (SQLException e) {
      throw new BenchException("'" + sql + "' failed", e);
    }
  }

  void run(String sql) {
    try (Statement statement = admin.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new BenchException("'" + sql + "' failed", e);
    }
  }

  @Override
  public void close() {
    try {
      admin.close();
    } catch (SQLException e) {
      throw new BenchException("closing failed", e);
    } finally {
      server.close();
    }
  }
}
