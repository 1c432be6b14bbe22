package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
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
}
