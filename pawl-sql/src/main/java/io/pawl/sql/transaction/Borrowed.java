package io.pawl.sql.transaction;

import io.pawl.sql.connection.Connections;
import io.pawl.sql.connection.NetworkTimeout;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Frame;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection in our hands. One of the application's leaves as it came: autocommit, isolation,
 * network timeout and how long it waits for rows are put back. One that has failed is never
 * returned: it is aborted first, so that its pool finds it dead.
 */
public final class Borrowed implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Borrowed.class);

  private final Connection connection;
  private final boolean ours;
  private boolean autoCommit;
  private int isolation;
  private @Nullable NetworkTimeout networkTimeout;
  private @Nullable String rowWaits;
  private Frame frame;
  private volatile boolean failed;

  private Borrowed(Connection connection, boolean ours, Frame frame) {
    this.connection = connection;
    this.ours = ours;
    this.frame = frame;
  }

  /** For single statements, which read what was committed. */
  public static Borrowed reader(Database database) throws SQLException {
    boolean ours = database.connections().areOurs();
    return open(
        database, true, ours ? database.dialect().jdbcIsolation() : Connection.TRANSACTION_NONE);
  }

  /** For transactions as the dialect runs them. */
  static Borrowed writer(Database database) throws SQLException {
    Dialect dialect = database.dialect();
    Borrowed writer = open(database, dialect.beginsInSql(), dialect.jdbcIsolation());
    try {
      if (writer.ours) {
        writer.frame = dialect.setUpWriter(writer.connection);
      } else {
        writer.rowWaits = dialect.boundRowWaits(writer.connection);
      }
      return writer;
    } catch (SQLException | RuntimeException | Error e) {
      writer.markFailed();
      writer.close();
      throw e;
    }
  }

  private static Borrowed open(Database database, boolean autoCommit, int isolation)
      throws SQLException {
    Connections connections = database.connections();
    Borrowed borrowed =
        new Borrowed(connections.open(), connections.areOurs(), database.dialect().frame());
    try {
      borrowed.setUp(autoCommit, isolation);
      if (borrowed.ours) {
        database.dialect().setUp(borrowed.connection);
      }
      return borrowed;
    } catch (SQLException | RuntimeException | Error e) {
      borrowed.markFailed();
      borrowed.close();
      throw e;
    }
  }

  private void setUp(boolean wantedAutoCommit, int wantedIsolation) throws SQLException {
    if (!ours) {
      networkTimeout = NetworkTimeout.limit(connection);
      isolation = connection.getTransactionIsolation();
    }
    autoCommit = connection.getAutoCommit();
    if (autoCommit != wantedAutoCommit) {
      connection.setAutoCommit(wantedAutoCommit);
    }
    if (wantedIsolation != Connection.TRANSACTION_NONE && isolation != wantedIsolation) {
      connection.setTransactionIsolation(wantedIsolation);
    } else if (isolation == Connection.TRANSACTION_READ_UNCOMMITTED) {
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    }
  }

  public Connection connection() {
    return connection;
  }

  /** What a transaction on it begins and ends with. */
  Frame frame() {
    return frame;
  }

  /** Its state is not known: nobody gets it after us. */
  public void markFailed() {
    failed = true;
  }

  /** Ends the connection beside whoever uses it, who closes this. */
  void cut() {
    failed = true;
    try {
      connection.abort(Runnable::run);
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("cutting a connection failed", e);
    }
  }

  @Override
  public void close() {
    if (!failed && !ours) {
      try {
        putBack();
      } catch (SQLException | RuntimeException | Error e) {
        log.debug("a connection cannot be put back as it came, and is given up", e);
        failed = true;
      }
    }
    try (connection) {
      if (failed) {
        connection.abort(Runnable::run);
      }
    } catch (SQLException | RuntimeException | Error e) {
      log.debug("closing a connection failed", e);
    }
  }

  private void putBack() throws SQLException {
    if (rowWaits != null) {
      try (Statement statement = connection.createStatement()) {
        statement.execute(rowWaits);
      }
    }
    if (isolation != 0 && connection.getTransactionIsolation() != isolation) {
      connection.setTransactionIsolation(isolation);
    }
    if (connection.getAutoCommit() != autoCommit) {
      connection.setAutoCommit(autoCommit);
    }
    if (networkTimeout != null) {
      networkTimeout.close();
    }
  }
}
