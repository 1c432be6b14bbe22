package io.pawl.etcd;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import io.pawl.tck.LockContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/** The contracts of a store without counters. */
abstract class LockContracts {

  private static final Duration SHORT_LEASE = Duration.ofMillis(500);

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
