package io.pawl.quorum;

import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.CrashContract;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/**
 * The contracts in which it shows that nodes differ: how votes are counted and who is served in
 * turn, which tokens of a hold are seen and taken, and what is left where processes die. The rest
 * is the quorum's own and the engine's, and kept on three nodes of one kind: {@link
 * ThreeRedisContractsTest}.
 */
abstract class SelectedContracts {

  /** What takes minutes, and so is no part of a usual build. */
  static final String WHOLE = "whole";

  static final Duration SHORT_LEASE = Duration.ofMillis(600);

  abstract String url();

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
      return SHORT_LEASE;
    }
  }

  @Nested
  @Tag(WHOLE)
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
