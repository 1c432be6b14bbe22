package io.pawl.quorum;

import io.pawl.spi.LockStore;
import io.pawl.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;

/** Two of five may differ from the majority; the seam is where votes are counted. */
class FiveRedisContractsTest extends SelectedContracts {

  private static RedisNodes nodes;

  @BeforeAll
  static void start() {
    nodes = new RedisNodes(5, QuorumContracts.OPTIONS);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  String url() {
    return nodes.url();
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
}
