package io.pawl.redis;

import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.tck.InspectableContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisInspectableTest extends InspectableContract {

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
  protected LockStore openStore() {
    return RedisStore.connect(server.url());
  }
}
