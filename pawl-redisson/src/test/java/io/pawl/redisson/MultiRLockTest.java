package io.pawl.redisson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
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
