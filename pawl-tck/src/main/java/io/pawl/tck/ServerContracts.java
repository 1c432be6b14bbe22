package io.pawl.tck;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * All contracts of a store that other processes reach by URL, including those for the death of such
 * a process.
 */
public abstract class ServerContracts extends StoreContracts {

  /** For subclasses. */
  protected ServerContracts() {}

  /** Returns the URL at which this process and others find the service. */
  protected abstract String url();

  /** Returns the value of {@code counter} as the service stores it, read without Pawl. */
  protected abstract long storedValue(String counter) throws Exception;

  @Override
  protected LockStore openStore() {
    return Stores.open(StoreUrl.parse(url()));
  }

  @Nested
  class Crashing extends CrashContract {
    @Override
    protected String url() {
      return ServerContracts.this.url();
    }

    @Override
    protected Duration shortLease() {
      return ServerContracts.this.shortLease();
    }

    @Override
    protected int mostStops() {
      return ServerContracts.this.mostStops();
    }
  }

  /** See {@link CrashContract#mostStops}. */
  protected int mostStops() {
    return 1;
  }

  @Nested
  class CrashingWithCounters extends CounterCrashContract {
    @Override
    protected String url() {
      return ServerContracts.this.url();
    }

    @Override
    protected String namespace(String unique) {
      return counterNamespace(unique);
    }

    @Override
    protected long storedValue(String counter) throws Exception {
      return ServerContracts.this.storedValue(counter);
    }
  }
}
