package io.pawl.lab.stage;

import io.pawl.servers.EtcdServer;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisServer;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.ZooKeeperServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One real server of each service, started when first needed. For one thread at a time. */
public final class Ground implements AutoCloseable {

  private static final Pattern REDIS_VERSION = Pattern.compile("redis_version:(\\S+)");
  private static final Pattern ZOOKEEPER_VERSION = Pattern.compile("version: ([0-9.]+)");
  private static final Pattern ETCD_VERSION = Pattern.compile("\"version\":\"([^\"]+)\"");

  /** Of the ZooKeeper server. */
  static final int TICK_MILLIS = 500;

  private final Map<Service, ServerProcess> servers = new EnumMap<>(Service.class);

  private ServerProcess server(Service service) {
    return servers.computeIfAbsent(service, Ground::started);
  }

  private static ServerProcess started(Service service) {
    return switch (service) {
      case REDIS -> RedisServer.start();
      case MYSQL -> MySqlServer.start(MySqlServer.Flavour.MYSQL);
      case POSTGRES -> PostgresServer.start();
      case ZOOKEEPER -> ZooKeeperServer.start("tickTime=" + TICK_MILLIS, "maxSessionTimeout=60000");
      case ETCD -> EtcdServer.start();
    };
  }

  public RedisServer redis() {
    return (RedisServer) server(Service.REDIS);
  }

  public MySqlServer mysql() {
    return (MySqlServer) server(Service.MYSQL);
  }

  public PostgresServer postgres() {
    return (PostgresServer) server(Service.POSTGRES);
  }

  public ZooKeeperServer zooKeeper() {
    return (ZooKeeperServer) server(Service.ZOOKEEPER);
  }

  public EtcdServer etcd() {
    return (EtcdServer) server(Service.ETCD);
  }

  /** Returns the server's own name and version. */
  public String version(Service service) {
    return switch (service) {
      case REDIS -> "Redis " + found(REDIS_VERSION, redis().text("INFO", "server"));
      case MYSQL -> "MySQL " + productVersion(mysqlUrl());
      case POSTGRES -> "PostgreSQL " + productVersion(postgresUrl(postgres().jdbcUrl()));
      case ZOOKEEPER -> "ZooKeeper " + found(ZOOKEEPER_VERSION, stat());
      case ETCD -> "etcd " + found(ETCD_VERSION, etcd().post("/v3/maintenance/status", "{}"));
    };
  }

  private static String productVersion(String url) {
    try (Connection connection = DriverManager.getConnection(url)) {
      return connection.getMetaData().getDatabaseProductVersion().split(" ", 2)[0];
    } catch (SQLException e) {
      throw new LabException("the database does not tell its version", e);
    }
  }

  private String stat() {
    try {
      return zooKeeper().ask("srvr");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String found(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? matcher.group(1) : "of an unknown version";
  }

  /** Returns the URL, with user and password, of the database of {@link #mysql()}. */
  public String mysqlUrl() {
    return mysql().jdbcUrl() + "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD;
  }

  /** Returns {@code base} with user and password of {@link #postgres()}. */
  public String postgresUrl(String base) {
    return base + "?user=" + PostgresServer.USER + "&password=" + PostgresServer.PASSWORD;
  }

  @Override
  public void close() {
    servers.values().forEach(ServerProcess::close);
    servers.clear();
  }
}
