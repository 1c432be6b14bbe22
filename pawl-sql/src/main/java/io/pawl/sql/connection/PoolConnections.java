package io.pawl.sql.connection;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The application's connections, borrowed for a batch at a time. */
public record PoolConnections(DataSource pool, String describe) implements Connections {

  @Override
  public Connection open() throws SQLException {
    return pool.getConnection();
  }

  @Override
  public boolean areOurs() {
    return false;
  }
}
