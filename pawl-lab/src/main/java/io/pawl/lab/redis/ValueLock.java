package io.pawl.lab.redis;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.sync.RedisCommands;

/** SET NX PX with a value by which the owner is known, and the ways to release it. */
record ValueLock(RedisCommands<String, String> redis, String name, String value) {

  private static final String DELETE_IF_MINE =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

  boolean tryLock(long leaseMillis) {
    return "OK".equals(redis.set(name, value, SetArgs.Builder.nx().px(leaseMillis)));
  }

  /** S5. */
  void deleteBlindly() {
    redis.del(name);
  }

  /** S6. */
  boolean deleteIfMine() {
    Long deleted = redis.eval(DELETE_IF_MINE, ScriptOutputType.INTEGER, new String[] {name}, value);
    return deleted == 1;
  }

  /** S7: three round trips if the replies are awaited, as they are here. */
  boolean deleteWithWatch() {
    redis.watch(name);
    if (!value.equals(redis.get(name))) {
      redis.unwatch();
      return false;
    }
    redis.multi();
    redis.del(name);
    TransactionResult result = redis.exec();
    return !result.wasDiscarded();
  }
}
