package io.pawl.quorum;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag(SelectedContracts.WHOLE)
class ThreeRedisContractsTest extends QuorumContracts {

  private static RedisNodes nodes;

  @BeforeAll
  static void start() {
    nodes = new RedisNodes(3, OPTIONS);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  @Override
  protected String url() {
    return nodes.url();
  }
}
