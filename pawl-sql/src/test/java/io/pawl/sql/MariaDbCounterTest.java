package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import java.sql.SQLException;
import java.time.Duration;

class MariaDbCounterTest extends CounterContract {
  @Override
  protected LockStore openStore() {
    return TestDatabase.MARIADB.open();
  }

  @Override
  protected Duration shortLease() {
    return TestDatabase.SHORT_LEASE;
  }

  @Override
  protected void assertStoredConserved(String counter) throws SQLException {
    Balance.assertOf(TestDatabase.MARIADB, counter);
  }
}
