package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.redisson.api.RExpirable;

class BothRLocksTest {

  /** Redisson's, which others hold for a while as it is asked for. */
  private static org.redisson.api.RLock busyFor(Duration time) {
    return (org.redisson.api.RLock)
        Proxy.newProxyInstance(
            org.redisson.api.RLock.class.getClassLoader(),
            new Class<?>[] {org.redisson.api.RLock.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("tryLock")) {
                LockSupport.parkNanos(time.toNanos());
                return true;
              }
              return method.getName().equals("getHoldCount") ? 1 : null;
            });
  }

  @Test
  void aLeaseTimeBeginsOnceBothAreTaken() throws Exception {
    try (Pawl pawl = Pawl.connect("memory:")) {
      RLock ours = PawlRedisson.over(pawl).getLock("job");
      RLock both =
          new BothRLocks(ours, busyFor(Duration.ofMillis(1_600)), new Entries(), "lock job");

      assertThat(both.tryLock(5, 2, TimeUnit.SECONDS)).isTrue();

      assertThat(MultiRLockTest.remaining(pawl, "job")).isGreaterThan(Duration.ofSeconds(1));
      both.unlock();
    }
  }

  /** Redisson's, each of which is held by whoever asks, for as long as it says at last. */
  private static org.redisson.api.RLock keeping(AtomicReference<Duration> time) {
    return (org.redisson.api.RLock)
        Proxy.newProxyInstance(
            org.redisson.api.RLock.class.getClassLoader(),
            new Class<?>[] {org.redisson.api.RLock.class, RExpirable.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "isHeldByCurrentThread", "tryLock" -> true;
                  case "getHoldCount" -> 1;
                  case "expire" -> {
                    time.set((Duration) arguments[0]);
                    yield true;
                  }
                  default -> null;
                });
  }

  @Test
  void theLeaseTimeOfAPairBeginsOnceAllPairsAreTaken() throws Exception {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      Entries entries = new Entries();
      AtomicReference<Duration> time = new AtomicReference<>();
      RLock first = new BothRLocks(redisson.getLock("a"), keeping(time), entries, "lock a");
      RLock second =
          new BothRLocks(
              redisson.getLock("b"), busyFor(Duration.ofMillis(1_600)), entries, "lock b");

      boolean taken = redisson.getMultiLock(first, second).tryLock(5, 2, TimeUnit.SECONDS);

      assertThat(taken).isTrue();
      assertThat(time).hasValue(Duration.ofSeconds(2));
      first.unlock();
      second.unlock();
    }
  }
}
