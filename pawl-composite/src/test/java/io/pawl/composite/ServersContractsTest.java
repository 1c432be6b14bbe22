package io.pawl.composite;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import io.pawl.tck.CounterCrashContract;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** Redis before MySQL. */
class ServersContractsTest {

  private static LockStore open() {
    return open(Servers.mySqlUrl());
  }

  private static LockStore open(String truthUrl) {
    LockStore gate = Servers.open(Servers.redisUrl());
    LockStore truth = Servers.open(truthUrl);
    return GateStore.owning(gate.describe(), gate, () -> gate, truth, Servers.PATIENT);
  }

  @Nested
  class Store extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }

  @Nested
  class Lock extends LockContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }

  @Nested
  class Counters extends CounterContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }

  @Nested
  class Crash extends CrashContract {
    @Override
    protected String url() {
      return "gate:" + Servers.redisUrl() + "|" + Servers.mySqlUrl();
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }

  @Nested
  class CounterCrash extends CounterCrashContract {
    @Override
    protected String url() {
      return "gate:" + Servers.redisUrl() + "|" + Servers.mySqlUrl();
    }

    @Override
    protected long storedValue(String counter) throws SQLException {
      String sql = "SELECT value FROM pawl_counter WHERE name = '" + counter + "'";
      return Servers.number(Servers.mySqlUrl(), sql);
    }
  }

  /** Before PostgreSQL, as far as counters go. */
  @Nested
  class CountersOnPostgres extends CounterContract {
    @Override
    protected LockStore openStore() {
      return open(Servers.postgresUrl());
    }

    @Override
    protected Duration shortLease() {
      return Servers.SHORT_LEASE;
    }
  }
}
