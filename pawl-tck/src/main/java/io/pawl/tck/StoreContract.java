package io.pawl.tck;

import io.pawl.spi.LockStore;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * What every contract asks of its subclass: how to reach the service. A new instance serves each
 * case; whatever a case opens is closed after it. Lock names are unique to a case, so that the
 * service may be shared and need not be empty. A case that hangs fails after two minutes.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES, threadMode = ThreadMode.SEPARATE_THREAD)
public abstract class StoreContract {

  final Bench bench = new Bench(this::openStore, this::shortLease, this::namespace);

  /** For the contracts of this package. */
  StoreContract() {}

  /** Opens one client's own store object; two calls are two clients of the same service. */
  protected abstract LockStore openStore();

  /**
   * A lease that some cases let run out, 300 ms unless overridden: longer for a service that cannot
   * keep time so finely or answers slowly, at most 5 s.
   */
  protected Duration shortLease() {
    return Duration.ofMillis(300);
  }

  /**
   * What all names of a case begin with; {@code unique} unless overridden, for instance to have
   * them in one slot of a cluster.
   *
   * @param unique short, and of no other case
   */
  protected String namespace(String unique) {
    return unique;
  }

  @AfterEach
  final void closeWhatTheCaseOpened() throws Exception {
    bench.close();
  }
}
