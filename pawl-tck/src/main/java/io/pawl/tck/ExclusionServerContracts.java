package io.pawl.tck;

import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * All contracts of a store that has locks and read-write locks alone and that other processes reach
 * by URL. One with semaphores extends {@link LockServerContracts}.
 */
public abstract class ExclusionServerContracts {

  /** For subclasses. */
  protected ExclusionServerContracts() {}

  /** Returns the URL at which this process and others find the service. */
  protected abstract String url();

  /** See {@link StoreContract#shortLease}; 300 ms unless overridden. */
  protected Duration shortLease() {
    return Duration.ofMillis(300);
  }

  /** See {@link StoreContract#longestLease}; 7 days unless overridden. */
  protected Duration longestLease() {
    return Claim.MAX_LEASE;
  }

  final LockStore open() {
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
      return ExclusionServerContracts.this.shortLease();
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
      return ExclusionServerContracts.this.shortLease();
    }

    @Override
    protected Duration longestLease() {
      return ExclusionServerContracts.this.longestLease();
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
      return ExclusionServerContracts.this.shortLease();
    }
  }

  @Nested
  class Crashing extends CrashContract {
    @Override
    protected String url() {
      return ExclusionServerContracts.this.url();
    }

    @Override
    protected Duration shortLease() {
      return ExclusionServerContracts.this.shortLease();
    }
  }
}
