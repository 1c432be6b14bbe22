package io.pawl.tck;

import io.pawl.spi.LockStore;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * All contracts of a store: one subclass for each service says how to reach it. For a store that
 * other processes reach by URL, extend {@link ServerContracts} instead, or {@link
 * LockServerContracts} if it has no counters. Inspection is required: by it semaphores change their
 * capacity.
 *
 * <pre>{@code
 * class MemoryContractsTest extends StoreContracts {
 *   private static final MemoryStore SERVICE = new MemoryStore();
 *
 *   protected LockStore openStore() {
 *     return SERVICE;
 *   }
 * }
 * }</pre>
 */
public abstract class StoreContracts {

  /** For subclasses. */
  protected StoreContracts() {}

  /** Opens one client's own store object; two calls are two clients of the same service. */
  protected abstract LockStore openStore();

  /** See {@link StoreContract#shortLease}; 300 ms unless overridden. */
  protected Duration shortLease() {
    return Duration.ofMillis(300);
  }

  /** See {@link StoreContract#namespace}, for the contract of counters. */
  protected String counterNamespace(String unique) {
    return unique;
  }

  /** See {@link CounterContract#takesOverALossyNetwork}; 6,000 unless overridden. */
  protected int takesOverALossyNetwork() {
    return 6_000;
  }

  /** See {@link CounterContract#assertStoredConserved}; does nothing unless overridden. */
  protected void assertStoredConserved(String counter) throws Exception {}

  @Nested
  class AtTheSeam extends LockStoreContract {
    @Override
    protected LockStore openStore() {
      return StoreContracts.this.openStore();
    }

    @Override
    protected Duration shortLease() {
      return StoreContracts.this.shortLease();
    }
  }

  @Nested
  class Locks extends LockContract {
    @Override
    protected LockStore openStore() {
      return StoreContracts.this.openStore();
    }

    @Override
    protected Duration shortLease() {
      return StoreContracts.this.shortLease();
    }
  }

  @Nested
  class Semaphores extends SemaphoreContract {
    @Override
    protected LockStore openStore() {
      return StoreContracts.this.openStore();
    }

    @Override
    protected Duration shortLease() {
      return StoreContracts.this.shortLease();
    }
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return StoreContracts.this.openStore();
    }

    @Override
    protected Duration shortLease() {
      return StoreContracts.this.shortLease();
    }
  }

  @Nested
  class Counters extends CounterContract {
    @Override
    protected LockStore openStore() {
      return StoreContracts.this.openStore();
    }

    @Override
    protected Duration shortLease() {
      return StoreContracts.this.shortLease();
    }

    @Override
    protected String namespace(String unique) {
      return counterNamespace(unique);
    }

    @Override
    protected int takesOverALossyNetwork() {
      return StoreContracts.this.takesOverALossyNetwork();
    }

    @Override
    protected void assertStoredConserved(String counter) throws Exception {
      StoreContracts.this.assertStoredConserved(counter);
    }
  }
}
