package io.pawl.quorum;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** What a usual build keeps of {@link ThreeRedisContractsTest}. */
class ThreeRedisSeamTest extends SelectedContracts {

  private static RedisNodes nodes;

  @BeforeAll
  static void start() {
    nodes = new RedisNodes(3, QuorumContracts.OPTIONS);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  String url() {
    return nodes.url();
  }
}
