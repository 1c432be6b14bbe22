package io.pawl.redis;

import io.pawl.servers.RedisServer;

/** What a server has stored, read without Pawl. */
final class StoredValue {

  private StoredValue() {}

  static long of(RedisServer server, String counter) {
    return Long.parseLong(server.text("HGET", "pawl:counter:" + counter, ".").split(" ", 2)[0]);
  }
}
