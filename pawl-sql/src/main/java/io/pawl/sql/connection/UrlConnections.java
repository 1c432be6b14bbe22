package io.pawl.sql.connection;

import io.pawl.concurrent.KeptInterrupts;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Properties;

/** Connections of the store's own, by URL. */
public record UrlConnections(JdbcUrl url) implements Connections {

  private static final int MOST_TRIES = 3;

  /** SQL's state of a client that cannot connect. */
  static final String UNABLE_TO_CONNECT = "08001";

  @Override
  public String describe() {
    return url.shown();
  }

  /**
   * PostgreSQL's driver connects on another thread, and gives up where the one that waits for it is
   * interrupted. That one may be a caller's, and the connection others' too: so the driver is asked
   * again, and the interrupt kept.
   */
  @Override
  public Connection open() throws SQLException {
    try (KeptInterrupts kept = new KeptInterrupts()) {
      for (int triesLeft = MOST_TRIES - 1; ; triesLeft--) {
        kept.clear();
        try {
          return connect();
        } catch (SQLException e) {
          if (!Thread.interrupted()) {
            throw e;
          }
          kept.caught();
          if (triesLeft == 0) {
            throw new SQLTransientConnectionException(e.getMessage(), UNABLE_TO_CONNECT, e);
          }
        }
      }
    }
  }

  private Connection connect() throws SQLException {
    Properties copy = new Properties();
    copy.putAll(url.properties());
    return DriverManager.getConnection(url.forDriver(), copy);
  }

  @Override
  public boolean areOurs() {
    return true;
  }

  @Override
  public String toString() {
    return describe();
  }
}
