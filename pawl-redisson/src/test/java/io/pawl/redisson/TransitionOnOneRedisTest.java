package io.pawl.redisson;

/** Pawl's locks are on the same Redis as Redisson's. */
class TransitionOnOneRedisTest extends TransitionRedissonCases {

  TransitionOnOneRedisTest() {
    super(Servers.redis().url());
  }
}
