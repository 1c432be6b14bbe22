package io.pawl.lab.redis;

import io.lettuce.core.api.sync.RedisCommands;

/** S1 and S2: SETNX, and EXPIRE as a command of its own if there is a lease. */
@SuppressWarnings("deprecation") // the command is the subject
final class SetNx {

  private final RedisCommands<String, String> redis;
  private final String name;
  private final long leaseSeconds;

  /**
   * @param leaseSeconds 0 for none
   */
  SetNx(RedisCommands<String, String> redis, String name, long leaseSeconds) {
    this.redis = redis;
    this.name = name;
    this.leaseSeconds = leaseSeconds;
  }

  /**
   * @param between run between the two commands
   */
  boolean tryLock(Runnable between) {
    if (!redis.setnx(name, "1")) {
      return false;
    }
    if (leaseSeconds > 0) {
      between.run();
      redis.expire(name, leaseSeconds);
    }
    return true;
  }

  boolean tryLock() {
    return tryLock(() -> {});
  }

  void unlock() {
    redis.del(name);
  }
}
