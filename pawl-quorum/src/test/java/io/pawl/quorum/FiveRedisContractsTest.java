package io.pawl.quorum;

import io.pawl.spi.LockStore;
import io.pawl.tck.InspectableContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Two of five may differ from the majority. */
@Tag(SelectedContracts.WHOLE)
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
}
