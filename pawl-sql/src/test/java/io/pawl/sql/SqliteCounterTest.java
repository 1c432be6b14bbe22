package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import java.sql.SQLException;

class SqliteCounterTest extends CounterContract {

  @Override
  protected LockStore openStore() {
    return TestDatabase.SQLITE.open();
  }

  @Override
  protected void assertStoredConserved(String counter) throws SQLException {
    Balance.assertOf(TestDatabase.SQLITE, counter);
  }

  @Override
  protected int takesOverALossyNetwork() {
    return 15_000;
  }
}
