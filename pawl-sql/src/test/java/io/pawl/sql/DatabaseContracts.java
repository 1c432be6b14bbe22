package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.ServerContracts;
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
    return Balance.valueOf(database, counter);
  }
}
