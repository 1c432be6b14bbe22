package io.pawl.spring;

import io.pawl.Lease;
import io.pawl.error.StaleTokenException;
import io.pawl.sql.SqlFence;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Compares the tokens of leases in table {@code pawl_fence} of the application's database: when a
 * {@linkplain Locked#fenced() fenced} method is entered, and before its transactions commit. A
 * transaction of an earlier holder has ended before the first comparison returns, or is refused by
 * its own. Thread-safe.
 */
public final class Fencing {

  private final DataSource dataSource;
  private final boolean createsTable;
  private volatile boolean hasTable;

  /**
   * @param dataSource that of the application's transactions
   * @param createsTable whether the table may be created if it is missing
   */
  public Fencing(DataSource dataSource, boolean createsTable) {
    this.dataSource = dataSource;
    this.createsTable = createsTable;
  }

  /**
   * Refuses what earlier holders have yet to commit, in a short transaction on a connection of its
   * own.
   *
   * @throws StaleTokenException when the lease was overtaken already
   */
  void enter(Lease lease) {
    try (Connection connection = dataSource.getConnection()) {
      boolean autoCommit = connection.getAutoCommit();
      if (createsTable && !hasTable) {
        SqlFence.createTable(connection);
        hasTable = true;
      }
      connection.setAutoCommit(false);
      try {
        SqlFence.check(connection, lease.lock(), lease.token());
        connection.commit();
      } catch (SQLException | RuntimeException | Error e) {
        rollBack(connection, e);
        throw e;
      } finally {
        connection.setAutoCommit(autoCommit);
      }
    } catch (SQLException e) {
      throw failed(lease, e);
    }
  }

  private static void rollBack(Connection connection, Throwable failure) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  /** Whether this thread has a transaction on the database. */
  boolean isInTransaction() {
    return TransactionSynchronizationManager.hasResource(dataSource);
  }

  /**
   * Lets this thread's transaction commit.
   *
   * @throws StaleTokenException when the lease was overtaken
   */
  void checkBeforeCommit(Lease lease) {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      SqlFence.check(connection, lease.lock(), lease.token());
    } catch (SQLException e) {
      throw failed(lease, e);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  private static RuntimeException failed(Lease lease, SQLException e) {
    return new DataAccessResourceFailureException(
        "token " + lease.token() + " of lock '" + lease.lock() + "' could not be compared", e);
  }
}
