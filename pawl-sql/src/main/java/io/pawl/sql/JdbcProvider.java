package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.spi.SchemaSource;
import io.pawl.spi.StoreProvider;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.connection.JdbcUrl;
import io.pawl.sql.connection.UrlConnections;
import io.pawl.sql.dialect.Databases;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;

/**
 * Opens {@code jdbc:mysql://host/database}, {@code jdbc:mariadb://…} and {@code
 * jdbc:postgresql://…}, with the parameters of the driver. User and password are written before the
 * host ({@code user:password@}) or among the parameters.
 *
 * <p>Parameters of Pawl: {@code pawl.createTables=false} never creates tables; {@code
 * pawl.listen=false} polls instead of LISTEN, for PostgreSQL behind a pooler in transaction mode.
 */
public final class JdbcProvider implements StoreProvider, SchemaSource {

  private static final Map<String, String> DRIVERS =
      Map.of(
          "jdbc:mysql", "com.mysql:mysql-connector-j",
          "jdbc:mariadb", "org.mariadb.jdbc:mariadb-java-client",
          "jdbc:postgresql", "org.postgresql:postgresql");

  @Override
  public Set<String> schemes() {
    return DRIVERS.keySet();
  }

  @Override
  public LockStore open(StoreUrl url) {
    return SqlStore.open(Databases.at(connections(url)));
  }

  @Override
  public String schema(StoreUrl url) {
    return SqlSchema.ddl(url);
  }

  @Override
  public void createSchema(StoreUrl url) {
    SqlSchema.apply(url);
  }

  /** Connections that fail within seconds, whatever the network does. */
  static UrlConnections connections(StoreUrl url) {
    JdbcUrl jdbc = JdbcUrl.parse(url);
    if (url.scheme().equals("jdbc:postgresql")) {
      jdbc.defaulting("connectTimeout", "3").defaulting("loginTimeout", "4");
      jdbc.defaulting("socketTimeout", "4").defaulting("tcpKeepAlive", "true");
      jdbc.defaulting("ApplicationName", "pawl");
    } else {
      jdbc.defaulting("connectTimeout", "3000").defaulting("socketTimeout", "4000");
      jdbc.defaulting("connectionAttributes", "program_name:pawl");
      jdbc = jdbc.requiring("allowMultiQueries", "true"); // a batch and its commit are one trip
    }
    if (url.scheme().equals("jdbc:mysql")) {
      // else the driver asks the server before each update whether it may write: a trip
      jdbc.defaulting("useLocalSessionState", "true");
    }
    try {
      DriverManager.getDriver(jdbc.forDriver());
    } catch (SQLException e) {
      throw url.wrong(
          "no driver takes it; add "
              + DRIVERS.get(url.scheme())
              + " to the class path, and look for a slip in the URL");
    }
    return new UrlConnections(jdbc);
  }
}
