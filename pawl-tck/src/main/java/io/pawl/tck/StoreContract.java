package io.pawl.tck;

import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * The base of every contract: a subclass says how to reach the service. Each case has a new
 * instance, and everything that a case opens is closed after it. Lock names are unique to a case,
 * so the service may be shared and need not be empty. A case that hangs fails after two minutes.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
public abstract class StoreContract {

  final Bench bench = new Bench(this::openStore, this::shortLease, this::namespace);

  /** For the contracts of this package. */
  StoreContract() {
    bench.longestLeaseBy(this::longestLease);
  }

  /** Opens one client's own store object; two calls are two clients of the same service. */
  protected abstract LockStore openStore();

  /**
   * Returns a lease that some cases let run out, 300 ms unless overridden: longer for a service
   * with a coarse clock or slow answers, at most 5 s.
   */
  protected Duration shortLease() {
    return Duration.ofMillis(300);
  }

  /**
   * Returns the longest lease that a lock of the store can have, 7 days unless overridden: for a
   * service whose own times are shorter. Its documentation says so.
   */
  protected Duration longestLease() {
    return Claim.MAX_LEASE;
  }

  /**
   * Returns the prefix of all names of a case; {@code unique} unless overridden, for instance to
   * have the names in one slot of a cluster.
   *
   * @param unique a short text that no other case has
   */
  protected String namespace(String unique) {
    return unique;
  }

  @AfterEach
  final void closeWhatTheCaseOpened() throws Exception {
    bench.close();
  }
}
