package io.pawl.sql;

import io.pawl.servers.FaultProxy;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.Version;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.SqliteDialect;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;

/**
 * The databases that the tests of this module share, each started when first asked for. A server
 * ends with this JVM.
 */
public enum TestDatabase {
  SQLITE,
  MYSQL,
  MARIADB,
  POSTGRES;

  static final String USER = MySqlServer.USER;
  static final String PASSWORD = MySqlServer.PASSWORD;

  /** Of all that the contracts say, only the crash of a host needs the disk. */
  private static final String[] LAZY_MYSQL = {
    "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-lock-wait-timeout=5"
  };

  /** What the contracts let run out; commits of the tests beside this one may take a while. */
  static final Duration SHORT_LEASE = Duration.ofMillis(600);

  private ServerProcess server;
  private String baseUrl;

  /** Without user and password. */
  synchronized String baseUrl() {
    if (baseUrl == null) {
      start();
    }
    return baseUrl;
  }

  private void start() {
    if (this == SQLITE) {
      baseUrl = "sqlite:" + temporaryFile();
    } else {
      server = startLazily(version());
      baseUrl = urlOf(server);
    }
  }

  /** A server that forgets in a crash; whoever starts it closes it. */
  ServerProcess startLazily(Version version) {
    return this == POSTGRES ? startServer(version, "fsync=off") : startServer(version, LAZY_MYSQL);
  }

  /** A server of a test's own, with the durability that it has by default; the test closes it. */
  ServerProcess startServer(String... settings) {
    return startServer(version(), settings);
  }

  private ServerProcess startServer(Version version, String... settings) {
    return this == POSTGRES
        ? PostgresServer.start(version, settings)
        : MySqlServer.start(MySqlServer.Flavour.valueOf(name()), version, settings);
  }

  /** Without user and password. */
  static String urlOf(ServerProcess server) {
    return server instanceof MySqlServer mySql
        ? mySql.jdbcUrl()
        : ((PostgresServer) server).jdbcUrl();
  }

  /** {@code -Dpawl.test.postgres=13} and the like run all tests on another version. */
  private Version version() {
    return Version.of(System.getProperty("pawl.test." + name().toLowerCase(Locale.ROOT), ""));
  }

  private static Path temporaryFile() {
    try {
      Path folder = Files.createTempDirectory("pawl-sql-test");
      folder.toFile().deleteOnExit();
      for (String suffix : new String[] {"-app", "-shm", "-wal", ""}) {
        folder.resolve("locks.db" + suffix).toFile().deleteOnExit();
      }
      return folder.resolve("locks.db");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The server, for those that are one. */
  ServerProcess server() {
    baseUrl();
    return server;
  }

  /** As a user writes it. */
  public String url() {
    return this == SQLITE ? baseUrl() : withUser(baseUrl());
  }

  /**
   * Through {@code proxy}, without TLS and with all SQL as text, so that it can tell what passes.
   */
  String urlThrough(FaultProxy proxy) {
    String there = server().host() + ":" + server().port();
    String here = proxy.host() + ":" + proxy.port();
    String tls =
        switch (this) {
          case MYSQL -> "&sslMode=DISABLED&allowPublicKeyRetrieval=true";
          case MARIADB -> "&sslMode=disable&allowPublicKeyRetrieval=true";
          default -> "&sslmode=disable&prepareThreshold=0";
        };
    return withUser(baseUrl().replace(there, here)) + tls;
  }

  static String withUser(String baseUrl) {
    return withUser(baseUrl, USER, PASSWORD);
  }

  static String withUser(String baseUrl, String user, String password) {
    return baseUrl + (baseUrl.contains("?") ? "&" : "?") + "user=" + user + "&password=" + password;
  }

  /** What our own transactions run on. */
  public Database database() {
    return Databases.at(JdbcProvider.connections(StoreUrl.parse(url())));
  }

  /** The same with its tables, and a file too. */
  public Database prepared() {
    Database database =
        this == SQLITE
            ? new SqliteDialect(Path.of(url().substring("sqlite:".length()))).database()
            : database();
    SqlStore.open(database).close();
    return database;
  }

  SqlStore open() {
    return (SqlStore) Stores.open(StoreUrl.parse(url()));
  }

  /** A connection of the test's own; SQLite's file is Pawl's alone, and this one is another. */
  public Connection connect() throws SQLException {
    return this == SQLITE
        ? DriverManager.getConnection("jdbc:" + baseUrl() + "-app")
        : DriverManager.getConnection(baseUrl(), USER, PASSWORD);
  }

  /** How many transactions wait for a row that another one has locked. */
  long waitingTransactions() throws SQLException {
    String query =
        this == POSTGRES
            ? "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            : "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state LIKE 'LOCK%'";
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }
}
