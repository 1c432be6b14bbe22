package io.pawl.quorum;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.CrashContract;
import io.pawl.tck.InspectableContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;

/**
 * The contracts in which it shows that nodes differ: which tokens of a hold are seen and taken, and
 * what is left, and who meets whom, where processes die. The rest is the quorum's own and the
 * engine's, and kept on three nodes of one kind: {@link ThreeRedisContractsTest}.
 */
abstract class SelectedContracts {

  static final Duration SHORT_LEASE = Duration.ofMillis(600);

  abstract String url();

  final LockStore open() {
    return Stores.open(StoreUrl.parse(url()));
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
      return SelectedContracts.this.url();
    }

    @Override
    protected Duration shortLease() {
      return SHORT_LEASE;
    }
  }
}
