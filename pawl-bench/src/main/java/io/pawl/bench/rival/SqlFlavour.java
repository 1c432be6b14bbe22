package io.pawl.bench.rival;

import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.ServerProcess;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A database server, and what its SQL says in another way. */
public enum SqlFlavour {
  MYSQL(
      "MySQL",
      "GET_LOCK",
      "SELECT GET_LOCK(?, 60)",
      "SELECT RELEASE_LOCK(?)",
      "NOW(3) + INTERVAL 30 SECOND",
      "SHOW GLOBAL STATUS LIKE 'Questions'",
      "SELECT 'commits', count FROM information_schema.innodb_metrics"
          + " WHERE name = 'trx_rw_commits'",
      "the binary log",
      "SHOW BINARY LOG STATUS",
      List.of("@@innodb_flush_log_at_trx_commit", "@@log_bin", "@@sync_binlog"),
      // What HikariCP's own page on MySQL advises.
      Map.of(
          "cachePrepStmts", "true",
          "prepStmtCacheSize", "250",
          "prepStmtCacheSqlLimit", "2048",
          "useServerPrepStmts", "true",
          "useLocalSessionState", "true",
          "elideSetAutoCommits", "true",
          "maintainTimeStats", "false")),
  MARIADB(
      "MariaDB",
      MYSQL.sessionLock,
      MYSQL.takeSessionLock,
      MYSQL.releaseSessionLock,
      MYSQL.inThirtySeconds,
      MYSQL.operations,
      MYSQL.commits,
      "InnoDB's, since a binary log is off by default",
      "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'",
      MYSQL.settings,
      Map.of("useServerPrepStmts", "true", "cachePrepStmts", "true", "prepStmtCacheSize", "250")),
  POSTGRESQL(
      "PostgreSQL",
      "pg_advisory_lock",
      "SELECT pg_advisory_lock(hashtextextended(?, 0))",
      "SELECT pg_advisory_unlock(hashtextextended(?, 0))",
      "now() + interval '30 seconds'",
      "SELECT 'transactions', xact_commit + xact_rollback FROM pg_stat_database"
          + " WHERE datname = current_database()",
      // The next id of those that write; the statistics above come seconds late.
      "SELECT 'transactions', pg_snapshot_xmax(pg_current_snapshot())::text",
      "WAL",
      "SELECT 'wal', pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint",
      List.of(
          "current_setting('fsync')",
          "current_setting('synchronous_commit')",
          "current_setting('full_page_writes')"),
      Map.of());

  public final String title;

  /** What its own locks of a session are called. */
  public final String sessionLock;

  final String takeSessionLock;
  final String releaseSessionLock;
  final String inThirtySeconds;

  /** A query with a row whose second column counts what clients sent. */
  public final String operations;

  /** A query with a row whose second column counts transactions that wrote. */
  public final String commits;

  /** Which log is counted. */
  public final String log;

  /** A query with a row whose second column counts the bytes of its log. */
  public final String logBytes;

  /** Expressions on which durability depends. */
  public final List<String> settings;

  final Map<String, String> driverProperties;

  SqlFlavour(
      String title,
      String sessionLock,
      String takeSessionLock,
      String releaseSessionLock,
      String inThirtySeconds,
      String operations,
      String commits,
      String log,
      String logBytes,
      List<String> settings,
      Map<String, String> driverProperties) {
    this.title = title;
    this.sessionLock = sessionLock;
    this.takeSessionLock = takeSessionLock;
    this.releaseSessionLock = releaseSessionLock;
    this.inThirtySeconds = inThirtySeconds;
    this.operations = operations;
    this.commits = commits;
    this.log = log;
    this.logBytes = logBytes;
    this.settings = settings;
    this.driverProperties = driverProperties;
  }

  /** As people write it on the command line. */
  public String word() {
    return isPostgres() ? "postgres" : name().toLowerCase(Locale.ROOT);
  }

  public boolean isPostgres() {
    return this == POSTGRESQL;
  }

  /** With nothing set that it does not set itself, durability above all, but {@code options}. */
  public ServerProcess start(String... options) {
    return switch (this) {
      case MYSQL -> MySqlServer.start(MySqlServer.Flavour.MYSQL, options);
      case MARIADB -> MySqlServer.start(MySqlServer.Flavour.MARIADB, options);
      case POSTGRESQL -> PostgresServer.start(options);
    };
  }

  /**
   * The URL of {@code place}, a database or, on PostgreSQL, a schema; with user and password, and
   * with patience, so that a busy machine slows a measurement down and does not end it.
   */
  public String url(ServerProcess server, String place) {
    String user = "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD;
    if (server instanceof PostgresServer postgres) {
      String patient = "&connectTimeout=30&loginTimeout=30&socketTimeout=60";
      String schema = place.isEmpty() ? "" : "&currentSchema=" + place;
      return postgres.jdbcUrl() + user + patient + schema;
    }
    String url = ((MySqlServer) server).jdbcUrl();
    String patient = "&connectTimeout=30000&socketTimeout=60000";
    return (place.isEmpty() ? url : url.replaceAll("/[^/]*$", "/" + place)) + user + patient;
  }

  /**
   * The URL of {@code server} as seen at {@code port}; without TLS, all else being Pawl's to say.
   */
  public String plainUrl(ServerProcess server, int port) {
    return server instanceof PostgresServer postgres
        ? postgres.plainUrl(port)
        : ((MySqlServer) server).plainUrl(port);
  }

  /** {@code INSERT INTO} that leaves a row alone which is there. */
  String insertOnce(String intoAndValues) {
    return isPostgres()
        ? "INSERT INTO " + intoAndValues + " ON CONFLICT DO NOTHING"
        : "INSERT IGNORE INTO " + intoAndValues;
  }

  /** The flavour that serves a URL. */
  public static SqlFlavour of(String url) {
    for (SqlFlavour flavour : values()) {
      if (url.startsWith("jdbc:" + flavour.name().toLowerCase(java.util.Locale.ROOT) + ":")) {
        return flavour;
      }
    }
    throw new IllegalArgumentException("no database is known for " + url);
  }
}
