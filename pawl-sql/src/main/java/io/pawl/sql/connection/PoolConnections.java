package io.pawl.sql.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The application's connections, borrowed for a batch at a time. */
public record PoolConnections(DataSource pool, String describe) implements Connections {

  private static final int MOST_CAUSES = 10;

  @Override
  public Connection open() throws SQLException {
    return borrow(pool);
  }

  /**
   * A connection of {@code pool}. Many pools that have none to lend say so in a message alone,
   * which would be taken for a failure that lasts. Some name what the database has said, a wrong
   * password for example, in the cause.
   */
  public static Connection borrow(DataSource pool) throws SQLException {
    try {
      return pool.getConnection();
    } catch (SQLException e) {
      SQLException named = named(e);
      if (named == e) {
        throw e;
      }
      String state = named == null ? UrlConnections.UNABLE_TO_CONNECT : named.getSQLState();
      int code = named == null ? 0 : named.getErrorCode();
      throw new SQLTransientConnectionException(e.getMessage(), state, code, e);
    }
  }

  /**
   * The first in the chain of causes that has a SQLSTATE or an error code. Some pools repeat the
   * state alone: then the one with the code that belongs to it.
   */
  private static @Nullable SQLException named(SQLException failure) {
    SQLException named = null;
    Throwable next = failure;
    for (int i = 0; next != null && i < MOST_CAUSES; i++) {
      if (next instanceof SQLException e) {
        boolean hasCode = e.getErrorCode() != 0;
        if (named == null && (hasCode || e.getSQLState() != null)) {
          named = e;
        }
        if (named != null && hasCode && Objects.equals(e.getSQLState(), named.getSQLState())) {
          return e;
        }
      }
      next = next.getCause();
    }
    return named;
  }

  @Override
  public boolean areOurs() {
    return false;
  }
}
