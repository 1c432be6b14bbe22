package io.pawl.composite;

import io.pawl.servers.FaultProxy;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** The servers that the tests of this module share, each started when first asked for. */
public final class Servers {

  /** Of all that these tests say, only the crash of a host needs the disk. */
  private static final String[] LAZY = {
    "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-lock-wait-timeout=5"
  };

  /** What the contracts let run out; commits of the tests beside this one may take a while. */
  static final Duration SHORT_LEASE = Duration.ofMillis(600);

  /** The gate's hiccups on a busy machine are no faults. */
  static final GateOptions PATIENT = GateOptions.defaults().gatePatience(Duration.ofSeconds(10));

  private Servers() {}

  private static final class Redis {
    static final RedisServer SERVER = RedisServer.start();
  }

  private static final class MySql {
    static final MySqlServer SERVER = MySqlServer.start(MySqlServer.Flavour.MYSQL, LAZY);
  }

  private static final class Postgres {
    static final PostgresServer SERVER = PostgresServer.start("fsync=off");
  }

  public static RedisServer redis() {
    return Redis.SERVER;
  }

  public static String redisUrl() {
    return redis().url();
  }

  /** Redis through {@code proxy}. */
  public static String redisUrl(FaultProxy proxy) {
    return "redis://" + proxy.host() + ":" + proxy.port();
  }

  public static MySqlServer mySql() {
    return MySql.SERVER;
  }

  public static String mySqlUrl() {
    return urlOf(mySql());
  }

  /** MySQL through {@code proxy}, without TLS and with all SQL as text. */
  public static String mySqlUrl(FaultProxy proxy) {
    String here = mySql().host() + ":" + mySql().port();
    return mySqlUrl().replace(here, proxy.host() + ":" + proxy.port())
        + "&sslMode=DISABLED&allowPublicKeyRetrieval=true";
  }

  static String urlOf(MySqlServer server) {
    return withUser(server.jdbcUrl());
  }

  public static String postgresUrl() {
    return withUser(Postgres.SERVER.jdbcUrl());
  }

  private static String withUser(String url) {
    return url + "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD;
  }

  /** The only number that {@code sql} finds on {@code url}, without Pawl. */
  public static long number(String url, String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getLong(1) : 0;
    }
  }

  public static LockStore open(String url) {
    return Stores.open(StoreUrl.parse(url));
  }
}
