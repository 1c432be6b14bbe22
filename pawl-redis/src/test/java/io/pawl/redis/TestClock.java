package io.pawl.redis;

import io.pawl.servers.RedisServer;
import io.pawl.spi.StoreUrl;

/** A clock in a key of the server, which scripts read in place of the server's own. */
final class TestClock {

  private static final String KEY = "test:clock";

  private TestClock() {}

  static void set(RedisServer server, long micros) {
    String seconds = Long.toString(micros / 1_000_000);
    server.call("HSET", KEY, "s", seconds, "us", Long.toString(micros % 1_000_000));
  }

  /** A store whose scripts go by that clock. */
  static RedisStore store(RedisServer server) {
    return store(server.url());
  }

  static RedisStore store(String url) {
    String real = "redis.call('TIME')";
    String test = "redis.call('HMGET', '" + KEY + "', 's', 'us')";
    return RedisStore.connect(
        RedisUrl.parse(StoreUrl.parse(url)), Scripts.load(source -> source.replace(real, test)));
  }
}
