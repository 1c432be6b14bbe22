package io.pawl.sql.connection;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;

/**
 * The longest wait for an answer on a connection of the application's, which may have none: set
 * before the first trip, and put back before the connection is.
 */
public final class NetworkTimeout implements AutoCloseable {

  private static final int MOST_MILLIS = 4_000;

  private final Connection connection;
  private final int millisBefore;

  private NetworkTimeout(Connection connection, int millisBefore) {
    this.connection = connection;
    this.millisBefore = millisBefore;
  }

  /** Bounds the waits on {@code connection}, without a trip. */
  public static NetworkTimeout limit(Connection connection) throws SQLException {
    int before;
    try {
      before = connection.getNetworkTimeout();
      if (exceeds(before)) {
        connection.setNetworkTimeout(Runnable::run, MOST_MILLIS);
      }
    } catch (SQLFeatureNotSupportedException e) {
      before = MOST_MILLIS; // then only the pool's own settings bound a wait
    }
    return new NetworkTimeout(connection, before);
  }

  private static boolean exceeds(int millis) {
    return millis == 0 || millis > MOST_MILLIS;
  }

  @Override
  public void close() throws SQLException {
    if (exceeds(millisBefore)) {
      connection.setNetworkTimeout(Runnable::run, millisBefore);
    }
  }
}
