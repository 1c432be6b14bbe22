package io.pawl.composite.quorum;

import io.pawl.composite.Servers;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that share no cause of failure: Redis, PostgreSQL and a file. */
class MixedContractsTest extends QuorumContracts {

  @TempDir private static Path folder;
  private static RedisServer redis;
  private static String url;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    String file = "sqlite:" + folder.resolve("node.db");
    List<String> nodes = List.of(redis.url(), Servers.postgresUrl(), file);
    url = "quorum:?" + OPTIONS + "|" + String.join("|", nodes);
    try (QuorumStore store = RedisNodes.open(url)) {
      store.initialize();
    }
  }

  @AfterAll
  static void stop() {
    redis.close();
  }

  @Override
  protected String url() {
    return url;
  }
}
