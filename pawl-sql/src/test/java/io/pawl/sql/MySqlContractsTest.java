package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

class MySqlContractsTest {

  @Nested
  class Store extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }

  @Nested
  class Lock extends LockContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }

  @Nested
  class Crash extends CrashContract {
    @Override
    protected String url() {
      return TestDatabase.MYSQL.url();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }
}
