package io.pawl.zookeeper;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** The contracts of a store without counters, by URL. */
abstract class LockContracts {

  /** Ten ticks: sessions are kept alive by requests, and machines stall. */
  private static final Duration SHORT_LEASE = Duration.ofSeconds(1);

  /** ZooKeeper's client has no longer sessions. */
  private static final Duration LONGEST_LEASE = Duration.ofDays(6);

  abstract String url();

  private LockStore open() {
    return Stores.open(StoreUrl.parse(url()));
  }

  @Nested
  class AtTheSeam extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return SHORT_LEASE;
    }
  }

  @Nested
  class Locks extends LockContract {
    @Override
    protected Duration longestLease() {
      return LONGEST_LEASE;
    }

    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return SHORT_LEASE;
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
      return SHORT_LEASE;
    }
  }

  @Nested
  class Crashing extends CrashContract {
    @Override
    protected String url() {
      return LockContracts.this.url();
    }

    @Override
    protected Duration shortLease() {
      return SHORT_LEASE;
    }
  }
}
