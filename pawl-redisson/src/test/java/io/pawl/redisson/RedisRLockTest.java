package io.pawl.redisson;

class RedisRLockTest extends RLockCases {

  RedisRLockTest() {
    super(Servers.redis().url());
  }
}
