package io.pawl.composite;

import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import io.pawl.tck.ServerContracts;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** Redis before MySQL. */
class ServersContractsTest extends ServerContracts {

  private static LockStore open(String truthUrl) {
    LockStore gate = Servers.open(Servers.redisUrl());
    LockStore truth = Servers.open(truthUrl);
    return GateStore.owning(gate.describe(), gate, () -> gate, truth, Servers.PATIENT);
  }

  @Override
  protected LockStore openStore() {
    return open(Servers.mySqlUrl());
  }

  @Override
  protected String url() {
    return "gate:" + Servers.redisUrl() + "|" + Servers.mySqlUrl();
  }

  @Override
  protected Duration shortLease() {
    return Servers.SHORT_LEASE;
  }

  @Override
  protected long storedValue(String counter) throws SQLException {
    String sql = "SELECT value FROM pawl_counter WHERE name = '" + counter + "'";
    return Servers.number(Servers.mySqlUrl(), sql);
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
