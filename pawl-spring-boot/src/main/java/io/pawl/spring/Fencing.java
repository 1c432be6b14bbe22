package io.pawl.spring;

import io.pawl.error.StaleTokenException;
import io.pawl.sql.SqlFence;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.jdbc.support.SQLExceptionTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Compares the tokens of leases in table {@code pawl_fence} of the application's database: when a
 * {@linkplain Locked#fenced() fenced} method is entered, and before its transactions commit. A
 * transaction of an earlier holder has ended before the first comparison returns, or is refused by
 * its own. Thread-safe.
 */
public final class Fencing {

  private static final Duration USUAL_PATIENCE = Duration.ofSeconds(5);

  /** Of PostgreSQL, and of MySQL and MariaDB. */
  private static final Set<String> NO_SUCH_TABLE = Set.of("42P01", "42S02");

  /** The token rose while this transaction waited for its row, or there was a deadlock. */
  private static final String OLD_SNAPSHOT = "40001";

  private static final int MOST_ATTEMPTS = 3;

  /** A query that may take 0 s may take for ever. */
  private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

  private static final SQLExceptionTranslator translator = new SQLExceptionSubclassTranslator();

  private final DataSource dataSource;
  private final boolean createsTable;
  private final Duration patience;

  /** As {@link #Fencing(DataSource, boolean, Duration)}, with a patience of 5 s. */
  public Fencing(DataSource dataSource, boolean createsTable) {
    this(dataSource, createsTable, USUAL_PATIENCE);
  }

  /**
   * @param dataSource that of the application's transactions
   * @param createsTable whether the table may be created if it is missing
   * @param patience how long a comparison waits for a transaction that has passed its own and has
   *     yet to commit, in whole seconds, and 1 s at least
   */
  public Fencing(DataSource dataSource, boolean createsTable, Duration patience) {
    this.dataSource = underlying(dataSource);
    this.createsTable = createsTable;
    this.patience = patience.compareTo(LEAST_PATIENCE) < 0 ? LEAST_PATIENCE : patience;
  }

  /** That by which Spring knows the transactions of a thread. */
  private static DataSource underlying(DataSource dataSource) {
    DataSource found = dataSource;
    while (found instanceof TransactionAwareDataSourceProxy proxy
        && proxy.getTargetDataSource() != null) {
      found = proxy.getTargetDataSource();
    }
    return found;
  }

  /**
   * Refuses what earlier holders have yet to commit, in a short transaction on a connection of its
   * own.
   *
   * @throws StaleTokenException when a lease was overtaken already
   * @throws DataAccessException when an earlier transaction goes on for longer than the patience
   */
  void enter(Map<String, Long> tokens) {
    try (Connection connection = dataSource.getConnection()) {
      boolean autoCommit = connection.getAutoCommit();
      connection.setAutoCommit(false);
      try {
        raise(connection, tokens);
        connection.commit();
      } catch (SQLException | RuntimeException | Error e) {
        rollBack(connection, e);
        throw e;
      } finally {
        connection.setAutoCommit(autoCommit);
      }
    } catch (SQLException e) {
      throw failed(tokens, e);
    }
  }

  private void raise(Connection connection, Map<String, Long> tokens) throws SQLException {
    for (int attempt = 1; ; attempt++) {
      try {
        readCommitted(connection);
        compare(connection, tokens);
        return;
      } catch (SQLException e) {
        boolean mayCreate = createsTable && isMissing(e);
        if (attempt == MOST_ATTEMPTS || !mayCreate && !OLD_SNAPSHOT.equals(e.getSQLState())) {
          throw e;
        }
        connection.rollback();
        if (mayCreate) {
          create(connection);
        }
      }
    }
  }

  /** PostgreSQL's fence refuses a new token in a transaction that has a snapshot. */
  private static void readCommitted(Connection connection) throws SQLException {
    if (connection.getMetaData().getDatabaseProductName().equals("PostgreSQL")) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
      }
    }
  }

  /** SQLite has one state for all errors. */
  private static boolean isMissing(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && NO_SUCH_TABLE.contains(state)
        || String.valueOf(failure.getMessage()).contains("no such table: pawl_fence");
  }

  /** Of several processes that create it at the same time, some may be refused. */
  private static void create(Connection connection) throws SQLException {
    try {
      SqlFence.createTable(connection);
      connection.commit();
    } catch (SQLException e) {
      connection.rollback();
      try {
        SqlFence.createTable(connection);
        connection.commit();
      } catch (SQLException again) {
        again.addSuppressed(e);
        throw again;
      }
    }
  }

  /** In the order of names, as everybody does who has several. */
  private void compare(Connection connection, Map<String, Long> tokens) throws SQLException {
    for (Map.Entry<String, Long> each : tokens.entrySet()) {
      SqlFence.check(connection, each.getKey(), each.getValue(), patience);
    }
  }

  private static void rollBack(Connection connection, Throwable failure) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  /** What this thread's transaction on the database is bound by; null without one. */
  @Nullable Object resource() {
    return TransactionSynchronizationManager.getResource(dataSource);
  }

  /**
   * Lets this thread's transaction commit.
   *
   * @throws StaleTokenException when the lease was overtaken
   */
  void checkBeforeCommit(Map<String, Long> tokens) {
    Connection connection = DataSourceUtils.getConnection(dataSource);
    try {
      compare(connection, tokens);
    } catch (SQLException e) {
      throw failed(tokens, e);
    } finally {
      DataSourceUtils.releaseConnection(connection, dataSource);
    }
  }

  private static DataAccessException failed(Map<String, Long> tokens, SQLException e) {
    String task = "the tokens of locks " + tokens + " were not compared";
    DataAccessException translated = translator.translate(task, null, e);
    return translated != null ? translated : new DataAccessResourceFailureException(task, e);
  }
}
