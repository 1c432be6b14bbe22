package io.pawl.redis;

import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.tck.CounterContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisCounterTest extends CounterContract {

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
