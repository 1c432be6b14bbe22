package io.pawl.sql;

import io.pawl.spi.LockStore;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class MySqlContractsTest {

  @Nested
  class Store extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }
  }

  @Nested
  class Lock extends LockContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return TestDatabase.MYSQL.open();
    }
  }

  @Nested
  class Crash extends CrashContract {
    @Override
    protected String url() {
      return TestDatabase.MYSQL.url();
    }
  }
}
