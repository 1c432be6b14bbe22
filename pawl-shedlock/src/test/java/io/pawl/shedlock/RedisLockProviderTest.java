package io.pawl.shedlock;

class RedisLockProviderTest extends LockProviderCases {

  RedisLockProviderTest() {
    super(Servers.redis().url());
  }
}
