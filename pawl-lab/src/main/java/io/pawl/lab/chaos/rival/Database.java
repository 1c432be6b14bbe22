package io.pawl.lab.chaos.rival;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** Pools of connections as Spring Boot would make them, with waits that fit short leases. */
public final class Database {

  /** What the address of a database begins with that is a server. */
  public static final String SCHEME = "jdbc:";

  private static final String POSTGRES = SCHEME + "postgresql:";
  private static final int CONNECTIONS = 10;

  private Database() {}

  static boolean isPostgres(String address) {
    return address.startsWith(POSTGRES);
  }

  /**
   * Opens a pool; returns also when the database is away.
   *
   * @param leaseMillis twice of which a statement, or a connection, may take
   */
  static HikariDataSource pool(String address, long leaseMillis) {
    return pool(address, leaseMillis, CONNECTIONS);
  }

  /** As {@link #pool(String, long)}, with so many connections. */
  public static HikariDataSource pool(String address, long leaseMillis, int connections) {
    long millis = 2 * leaseMillis;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(address);
    config.setMaximumPoolSize(connections);
    config.setConnectionTimeout(millis);
    config.setValidationTimeout(leaseMillis);
    config.setInitializationFailTimeout(-1);
    String wait = Long.toString(isPostgres(address) ? Math.max(1, millis / 1_000) : millis);
    config.addDataSourceProperty("connectTimeout", wait);
    config.addDataSourceProperty("socketTimeout", wait);
    return new HikariDataSource(config);
  }

  /** Makes a table unless it is there. */
  static void create(HikariDataSource pool, String table) {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS " + table);
    } catch (SQLException e) {
      pool.close();
      throw new IllegalStateException("the table cannot be made", e);
    }
  }
}
