package io.pawl.sql;

import io.pawl.servers.PgBouncer;
import io.pawl.servers.PostgresServer;
import io.pawl.tck.CounterCrashContract;
import io.pawl.tck.CrashContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** PostgreSQL behind PgBouncer in transaction mode: fewer connections than there are clients. */
class PgBouncerContractsTest extends SelectedContracts {

  private static final int CONNECTIONS = 10;

  private static final class Bouncer {
    static final PgBouncer BOUNCER =
        PgBouncer.before((PostgresServer) TestDatabase.POSTGRES.server(), CONNECTIONS);
  }

  static SqlStore openBounced() {
    return new PgBouncerContractsTest().open();
  }

  @Override
  String baseUrl() {
    return Bouncer.BOUNCER.jdbcUrl();
  }

  @Nested
  class Crashing extends CrashContract {
    @Override
    protected String url() {
      return PgBouncerContractsTest.this.url();
    }

    @Override
    protected Duration shortLease() {
      return TestDatabase.SHORT_LEASE;
    }
  }

  @Nested
  class CrashingWithCounters extends CounterCrashContract {
    @Override
    protected String url() {
      return PgBouncerContractsTest.this.url();
    }

    @Override
    protected long storedValue(String counter) throws Exception {
      return Balance.valueOf(TestDatabase.POSTGRES, counter);
    }
  }
}
