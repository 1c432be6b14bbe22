package io.pawl.sql.connection;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Properties;

/** Connections of the store's own, by URL. */
public record UrlConnections(JdbcUrl url) implements Connections {

  @Override
  public String describe() {
    return url.shown();
  }

  @Override
  public Connection open() throws SQLException {
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
