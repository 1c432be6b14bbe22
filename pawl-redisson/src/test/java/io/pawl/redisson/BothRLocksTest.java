package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Pawl;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

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
              return null;
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
}
