package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.ServerContracts;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** All contracts on one database, whose tables are asked without Pawl. */
abstract class DatabaseContracts extends ServerContracts {

  private final TestDatabase database;

  DatabaseContracts(TestDatabase database) {
    this.database = database;
  }

  @Override
  protected String url() {
    return database.url();
  }

  @Override
  protected LockStore openStore() {
    return database.open();
  }

  @Override
  protected Duration shortLease() {
    return TestDatabase.SHORT_LEASE;
  }

  @Override
  protected void assertStoredConserved(String counter) throws SQLException {
    Balance.assertOf(database, counter);
  }

  @Override
  protected long storedValue(String counter) throws SQLException {
    try (Connection connection = connect();
        PreparedStatement select =
            connection.prepareStatement("SELECT value FROM pawl_counter WHERE name = ?")) {
      select.setString(1, counter);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private Connection connect() throws SQLException {
    return database == TestDatabase.SQLITE
        ? DriverManager.getConnection("jdbc:" + database.url())
        : database.connect();
  }
}
