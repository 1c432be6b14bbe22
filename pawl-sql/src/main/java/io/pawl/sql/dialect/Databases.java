package io.pawl.sql.dialect;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreException;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.connection.Connections;
import io.pawl.sql.connection.JdbcUrl;
import io.pawl.sql.connection.NetworkTimeout;
import io.pawl.sql.connection.PoolConnections;
import io.pawl.sql.connection.UrlConnections;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/** Finds out what a database speaks. */
public final class Databases {

  /** One whose driver or wrapper does not say where it leads. */
  private static final String A_POOL = "the DataSource";

  private Databases() {}

  /** The database that {@code connections} lead to. */
  public static Database at(UrlConnections connections) {
    JdbcUrl url = connections.url();
    return connections.use(() -> at(connections, url.createsTables(), url.listens()));
  }

  /** The application's connections; what their URL shows without user and parameters. */
  public static PoolConnections of(DataSource pool) {
    try (Connection connection = PoolConnections.borrow(pool)) {
      String url = connection.getMetaData().getURL();
      return new PoolConnections(pool, url == null ? A_POOL : shown(url));
    } catch (SQLException e) {
      throw explain(A_POOL, e);
    }
  }

  private static String shown(String url) {
    return StoreUrl.parse(url.replaceFirst("(?s)[?;].*", "")).toString();
  }

  /**
   * @param listens whether a connection may be kept for LISTEN
   */
  public static Database at(Connections connections, boolean createsTables, boolean listens) {
    try (Connection connection = connections.open();
        NetworkTimeout bound = connections.areOurs() ? null : NetworkTimeout.limit(connection)) {
      Dialect dialect = dialect(connection, connections.areOurs(), createsTables, listens);
      if (!connection.getAutoCommit()) {
        connection.rollback(); // a pool takes nothing back that is in a transaction
      }
      return new Database(dialect, connections);
    } catch (StoreConfigurationException e) {
      throw new StoreConfigurationException(connections.describe() + ": " + e.getMessage(), e);
    } catch (SQLException e) {
      throw explain(connections.describe(), e);
    }
  }

  /** A pool may not say where it leads; PostgreSQL's driver has no codes of its own. */
  private static StoreException explain(String where, SQLException e) {
    boolean postgres =
        where.equals(A_POOL) ? e.getErrorCode() == 0 : where.startsWith("jdbc:postgresql:");
    Dialect anyone =
        postgres ? new PostgresDialect(false, false, 0) : MySqlDialect.mySql(false, false);
    return Database.explain(where, anyone.classify(e), e);
  }

  private static Dialect dialect(
      Connection connection, boolean ours, boolean createsTables, boolean listens)
      throws SQLException {
    DatabaseMetaData about = connection.getMetaData();
    String product = about.getDatabaseProductName().toLowerCase(Locale.ROOT);
    if (product.contains("postgresql")) {
      refuseLookalikes(version(connection));
      requireVersion("PostgreSQL", about.getDatabaseProductVersion(), 13, 0, 0);
      return new PostgresDialect(createsTables, listens, about.getDatabaseMajorVersion());
    }
    if (!product.contains("mysql") && !product.contains("mariadb")) {
      throw new StoreConfigurationException(
          about.getDatabaseProductName()
              + " is not supported; use MySQL, MariaDB, PostgreSQL or sqlite:/path/to/file");
    }
    String version = version(connection);
    if (version.contains("MariaDB")) {
      requireVersion("MariaDB", version.replaceFirst("^5\\.5\\.5-", ""), 10, 6, 0);
      return MySqlDialect.mariaDb(ours, createsTables);
    }
    requireVersion("MySQL", version, 8, 0, 19);
    return MySqlDialect.mySql(ours, createsTables);
  }

  /** They speak PostgreSQL's protocol, and lack LISTEN and locks that wait as its own do. */
  static void refuseLookalikes(String version) {
    for (String other : List.of("CockroachDB", "YugabyteDB", "-YB-")) {
      if (version.contains(other)) {
        throw new StoreConfigurationException(
            version + " is not supported; use PostgreSQL, MySQL or MariaDB");
      }
    }
  }

  private static String version(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet version = statement.executeQuery("SELECT VERSION()")) {
      version.next();
      return version.getString(1);
    }
  }

  private static void requireVersion(String what, String found, int... least) {
    String[] parts = found.split("[^0-9]+");
    for (int i = 0; i < least.length; i++) {
      int part = i < parts.length && !parts[i].isEmpty() ? Integer.parseInt(parts[i]) : 0;
      if (part > least[i]) {
        return;
      }
      if (part < least[i]) {
        throw new StoreConfigurationException(
            what
                + " "
                + found
                + " is too old; "
                + least[0]
                + "."
                + least[1]
                + "."
                + least[2]
                + " or later is needed");
      }
    }
  }
}
