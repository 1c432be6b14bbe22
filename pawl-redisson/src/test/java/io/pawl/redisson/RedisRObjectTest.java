package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.pawl.Pawl;
import org.junit.jupiter.api.Test;

class RedisRObjectTest extends RObjectCases {

  RedisRObjectTest() {
    super(Servers.redis().url());
  }

  /** As it does once nobody has used them for 10 minutes. */
  @Test
  void anObjectKnowsItsPermitsThoughRedisHasForgottenThem() {
    try (Pawl pawl = Pawl.connect(Servers.redis().url());
        RedisClient redis = RedisClient.create(Servers.redis().url())) {
      RSemaphore semaphore = PawlRedisson.over(pawl).getSemaphore("forgotten");
      semaphore.trySetPermits(3);
      redis.connect().sync().flushall();

      assertThat(semaphore.availablePermits()).isEqualTo(3);
      assertThat(semaphore.tryAcquire(3)).isTrue();
      assertThat(semaphore.availablePermits()).isZero();
      semaphore.release(3);
    }
  }

  @Test
  void anObjectRefusesByWhatItKnowsThoughRedisHasForgottenIt() throws InterruptedException {
    try (Pawl pawl = Pawl.connect(Servers.redis().url());
        RedisClient redis = RedisClient.create(Servers.redis().url())) {
      RSemaphore semaphore = PawlRedisson.over(pawl).getSemaphore("forgotten while held");
      semaphore.trySetPermits(1);
      semaphore.acquire();
      redis.connect().sync().flushall();

      assertThat(semaphore.tryAcquire()).isFalse();
      semaphore.release();
    }
  }

  @Test
  void morePermitsThanAnObjectKnowsAreNotAskedForThoughRedisHasForgottenThem() {
    try (Pawl pawl = Pawl.connect(Servers.redis().url());
        RedisClient redis = RedisClient.create(Servers.redis().url())) {
      RSemaphore semaphore = PawlRedisson.over(pawl).getSemaphore("too few");
      semaphore.trySetPermits(2);
      redis.connect().sync().flushall();

      assertThatThrownBy(() -> semaphore.acquire(3)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
