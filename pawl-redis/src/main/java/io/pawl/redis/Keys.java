package io.pawl.redis;

import io.lettuce.core.RedisURI;

/**
 * The one key of each lock and of each counter. Braces in a name can choose its slot, as in any
 * key; they cannot split it, for there is nothing to split.
 */
final class Keys {

  private static final String PREFIX = "pawl:lock:";
  private static final String COUNTER_PREFIX = "pawl:counter:";
  static final String LOCKS = PREFIX + "*";
  static final String COUNTERS = COUNTER_PREFIX + "*";

  private Keys() {}

  static String of(String lock) {
    return PREFIX.concat(lock);
  }

  static String ofCounter(String counter) {
    return COUNTER_PREFIX.concat(counter);
  }

  /** A server without its password, for messages. */
  static String shown(RedisURI uri) {
    if (!uri.getSentinels().isEmpty()) {
      return "Sentinels of " + uri.getSentinelMasterId();
    }
    String server = uri.getSocket() == null ? uri.getHost() + ":" + uri.getPort() : uri.getSocket();
    return server + "/" + uri.getDatabase();
  }

  static String counterOf(String key) {
    return key.substring(COUNTER_PREFIX.length());
  }

  static String lockOf(String key) {
    return key.substring(PREFIX.length());
  }
}
