package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import java.time.Duration;

class PostgresCounterTest extends CounterContract {
  @Override
  protected LockStore openStore() {
    return TestDatabase.POSTGRES.open();
  }

  @Override
  protected Duration shortLease() {
    return TestDatabase.SHORT_LEASE;
  }
}
