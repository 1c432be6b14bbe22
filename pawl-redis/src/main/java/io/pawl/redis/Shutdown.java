package io.pawl.redis;

import io.lettuce.core.AbstractRedisClient;
import java.util.concurrent.TimeUnit;

/** The end of a client of our own, with the threads that it started. */
final class Shutdown {

  private static final long SECONDS = 2;

  private Shutdown() {}

  static void of(AbstractRedisClient client) {
    client.shutdown(0, SECONDS, TimeUnit.SECONDS);
    client.getResources().shutdown(0, SECONDS, TimeUnit.SECONDS).awaitUninterruptibly();
  }
}
