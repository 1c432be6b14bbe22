package io.pawl.bench.rival;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** Connections as an application has them. */
public final class SqlPool {

  /** Beyond that neither a server nor a client with a few cores gets more done. */
  public static final int USUAL_SIZE = Integer.getInteger("pawl.bench.pool", 16);

  /** For locks that hold a connection each, and wait on one. */
  public static final int SESSIONS = 32;

  private static final long PATIENCE_MILLIS = 60_000;
  private static final long SHORTEST_PAUSE_NANOS = 500_000;
  private static final long LONGEST_PAUSE_NANOS = 1_500_000;

  private SqlPool() {}

  public static HikariDataSource open(String url, int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setAutoCommit(autoCommit);
    config.setConnectionTimeout(PATIENCE_MILLIS);
    SqlFlavour.of(url).driverProperties.forEach(config::addDataSourceProperty);
    return new HikariDataSource(config);
  }

  /** Until a lock that was busy is asked for again. */
  static void pause() {
    LockSupport.parkNanos(
        ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS));
  }

  /** How many rows {@code sql} changed. */
  public static int update(Connection connection, String sql, Object... parameters)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      return statement.executeUpdate();
    }
  }
}
