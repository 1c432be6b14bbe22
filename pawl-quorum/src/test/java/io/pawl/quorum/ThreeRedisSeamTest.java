package io.pawl.quorum;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** What a usual build keeps of {@link ThreeRedisContractsTest}. */
class ThreeRedisSeamTest extends SelectedContracts {

  /** A seat counts as prompt for 1 s: else a busy machine's is told late of what is given back. */
  private static final String OPTIONS = "longestLease=60s&nodeTimeout=10s";

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
  String url() {
    return nodes.url();
  }
}
