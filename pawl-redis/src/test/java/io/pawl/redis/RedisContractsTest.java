package io.pawl.redis;

import io.pawl.servers.RedisServer;
import io.pawl.tck.ServerContracts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisContractsTest extends ServerContracts {

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected String url() {
    return server.url();
  }

  @Override
  protected long storedValue(String counter) {
    return StoredValue.of(server, counter);
  }
}
