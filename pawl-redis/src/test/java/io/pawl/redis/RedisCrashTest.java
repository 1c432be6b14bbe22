package io.pawl.redis;

import io.pawl.servers.RedisServer;
import io.pawl.tck.CrashContract;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class RedisCrashTest extends CrashContract {

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
}
