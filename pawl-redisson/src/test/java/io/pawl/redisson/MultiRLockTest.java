package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class MultiRLockTest {

  /** That unlocks, and throws then, as where the store fails at a downgrade. */
  private static RLock failing(RLock lock) {
    return (RLock)
        Proxy.newProxyInstance(
            RLock.class.getClassLoader(),
            new Class<?>[] {RLock.class},
            (proxy, method, arguments) -> {
              try {
                Object result = method.invoke(lock, arguments);
                if (method.getName().equals("unlock")) {
                  throw new IllegalStateException("the store is away");
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** That is granted once {@code before} has happened, the first time. */
  private static RLock after(RLock lock, Runnable before) {
    AtomicBoolean first = new AtomicBoolean(true);
    return (RLock)
        Proxy.newProxyInstance(
            RLock.class.getClassLoader(),
            new Class<?>[] {RLock.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("lock") && first.getAndSet(false)) {
                before.run();
              }
              return method.invoke(lock, arguments);
            });
  }

  @Test
  void aLockThatIsLostWhileALaterOneIsWaitedForIsTakenAgain() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      LockOptions options = LockOptions.defaults().lease(Duration.ofMillis(300));
      PawlRedisson redisson = PawlRedisson.over(pawl, options);
      RLock first = redisson.getLock("a");
      Runnable loseTheFirst =
          () -> {
            pawl.evict("a", pawl.inspect("a").holders().get(0).token());
            await().pollInSameThread().until(() -> !first.isHeldByCurrentThread());
          };
      RLock both = new MultiRLock(List.of(first, after(redisson.getLock("b"), loseTheFirst)));

      both.lock();

      assertThat(both.isHeldByCurrentThread()).isTrue();
      both.unlock();
    }
  }

  @Test
  void whateverAnUnlockThrowsTheOtherLocksAreUnlocked() {
    try (Pawl pawl = Pawl.connect("memory:")) {
      PawlRedisson redisson = PawlRedisson.over(pawl);
      RLock second = redisson.getLock("b");
      RLock both = new MultiRLock(List.of(failing(redisson.getLock("a")), second));
      both.lock();

      assertThatThrownBy(both::unlock).hasMessage("the store is away");

      assertThat(second.isLocked()).isFalse();
    }
  }
}
