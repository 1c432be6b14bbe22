package io.pawl.tck;

import io.pawl.spi.LockStore;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * All contracts of a store without counters that other processes reach by URL. One with counters
 * extends {@link ServerContracts}, one without semaphores {@link ExclusionServerContracts}.
 */
public abstract class LockServerContracts extends ExclusionServerContracts {

  /** For subclasses. */
  protected LockServerContracts() {}

  @Nested
  class Semaphores extends SemaphoreContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return LockServerContracts.this.shortLease();
    }

    @Override
    protected Duration longestLease() {
      return LockServerContracts.this.longestLease();
    }
  }
}
