package io.pawl.sql;

import io.pawl.spi.StoreUrl;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;

/** The tables of a store by URL, for those who would rather create them themselves. */
public final class SqlSchema {

  private SqlSchema() {}

  /**
   * The statements that create the tables, which may be run any number of times. Nothing is asked
   * of the server.
   *
   * @throws IllegalArgumentException where the URL is of no SQL database
   */
  public static String ddl(StoreUrl url) {
    String database =
        switch (url.scheme()) {
          case "sqlite", "jdbc:sqlite" -> "sqlite";
          case "jdbc:mysql", "jdbc:mariadb", "jdbc:postgresql" ->
              url.scheme().substring("jdbc:".length()).toLowerCase(Locale.ROOT);
          default ->
              throw new IllegalArgumentException("store URL '" + url + "': has no SQL tables");
        };
    return Schema.ddl(database);
  }

  /**
   * Creates the tables on a server, whatever {@code pawl.createTables} says.
   *
   * @throws io.pawl.StoreException where that fails
   */
  public static void apply(StoreUrl url) {
    if (url.scheme().contains("sqlite")) {
      new SqliteProvider().open(url).close();
      return;
    }
    Database database = Databases.at(JdbcProvider.connections(url));
    try (Connection connection = database.connections().open();
        Statement statement = connection.createStatement()) {
      for (String sql : Schema.statements(database.dialect().schema())) {
        statement.execute(sql);
      }
    } catch (SQLException e) {
      throw database.explain(e);
    }
  }
}
