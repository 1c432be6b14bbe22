package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A client that cannot be made leaves nothing behind. */
class FailedStartTest {

  private static Set<Thread> timers() {
    Set<Thread> timers = new HashSet<>(Thread.getAllStackTraces().keySet());
    timers.removeIf(thread -> !thread.getName().matches("pawl-\\d+-timer"));
    return timers;
  }

  private static void assertLeavesNoThread(Runnable start) {
    Set<Thread> before = timers();
    assertThatThrownBy(start::run).isInstanceOf(RuntimeException.class);
    Awaitility.await()
        .untilAsserted(() -> assertThat(before).as("with its timer").containsAll(timers()));
  }

  @Test
  void aClientWithoutAStoreOrOptionsLeavesNoThread() {
    assertLeavesNoThread(() -> Pawl.over(null));
    assertLeavesNoThread(() -> Pawl.over(new MemoryStore(), null));
  }

  @Test
  void aClientOfAStoreThatFailsAtOnceLeavesNoThread() {
    LockStore failing =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  throw new IllegalStateException(method.getName());
                });
    assertLeavesNoThread(() -> Pawl.over(failing, PawlOptions.defaults()));
  }
}
