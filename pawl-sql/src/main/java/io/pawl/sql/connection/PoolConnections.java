package io.pawl.sql.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import javax.sql.DataSource;

/** The application's connections, borrowed for a batch at a time. */
public record PoolConnections(DataSource pool, String describe) implements Connections {

  @Override
  public Connection open() throws SQLException {
    return borrow(pool);
  }

  /**
   * A connection of {@code pool}. Many pools that have none to lend say so in a message alone,
   * which would be taken for a failure that lasts.
   */
  public static Connection borrow(DataSource pool) throws SQLException {
    try {
      return pool.getConnection();
    } catch (SQLException e) {
      if (e.getSQLState() != null || e.getErrorCode() != 0) {
        throw e;
      }
      throw new SQLTransientConnectionException(
          e.getMessage(), UrlConnections.UNABLE_TO_CONNECT, e);
    }
  }

  @Override
  public boolean areOurs() {
    return false;
  }
}
