package io.pawl.sql;

import io.pawl.error.StoreConfigurationException;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.connection.UrlConnections;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;

/** The tables of a store, for administrators who create them themselves. */
public final class SqlSchema {

  private static final int MOST_TRIES = 10;

  /** How long a statement may take that makes or changes a table. */
  private static final int PATIENCE_MILLIS = 3_600_000;

  private SqlSchema() {}

  /**
   * Returns the statements that create the tables, which may be run any number of times. The server
   * is not asked.
   *
   * @throws IllegalArgumentException when the URL is not that of a SQL database
   */
  public static String ddl(StoreUrl url) {
    return ddl(url, 0);
  }

  private static String ddl(StoreUrl url, int from) {
    String database =
        switch (url.scheme()) {
          case "sqlite", "jdbc:sqlite" -> "sqlite";
          case "jdbc:mysql", "jdbc:mariadb", "jdbc:postgresql" ->
              url.scheme().substring("jdbc:".length()).toLowerCase(Locale.ROOT);
          default -> throw url.wrong("has no SQL tables");
        };
    return new Schema(database, true).ddl(from);
  }

  /**
   * Creates the tables on a server, or brings older ones up to this version, whatever {@code
   * pawl.createTables} says. The server decides which statements it needs, whatever driver the URL
   * names. Each is waited for up to an hour, or for the {@code socketTimeout} that the URL sets.
   *
   * @throws io.pawl.error.StoreConfigurationException when there are tables of a newer Pawl
   * @throws io.pawl.error.StoreException when the tables cannot be created
   */
  public static void apply(StoreUrl url) {
    if (url.scheme().contains("sqlite")) {
      new SqliteProvider().open(url).close();
      return;
    }
    UrlConnections connections = JdbcProvider.connections(url);
    Database database = Databases.at(connections);
    boolean bounded = connections.url().says("socketTimeout");
    connections.use(() -> apply(database, bounded));
  }

  /**
   * @param bounded whether the user has said how long an answer may take
   */
  private static boolean apply(Database database, boolean bounded) {
    for (int tries = 1; ; tries++) {
      try (Connection connection = database.connections().open()) {
        database.dialect().setUpForTables(connection);
        if (!bounded) {
          connection.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
        }
        new Schema(database.dialect().schema(), true).prepare(connection);
        return true;
      } catch (SQLException e) {
        Dialect.Failure failure = database.classify(e);
        boolean inTheWay =
            failure == Dialect.Failure.CONFLICT || failure == Dialect.Failure.BLOCKED;
        if (!inTheWay || tries == MOST_TRIES) {
          throw database.explain(e);
        }
      } catch (StoreConfigurationException e) {
        throw database.located(e);
      }
    }
  }
}
