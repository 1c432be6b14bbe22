package io.pawl.spring.integration;

class RedisLockRegistryTest extends LockRegistryCases {

  RedisLockRegistryTest() {
    super(Servers.redis().url());
  }
}
