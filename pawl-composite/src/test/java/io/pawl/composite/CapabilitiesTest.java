package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.Maintainable;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a pair can do beside locks is what its truth can. */
class CapabilitiesTest {

  private static final Duration DAY = Duration.ofDays(1);

  private final MemoryStore memory = new MemoryStore();
  private final List<Duration> purged = new ArrayList<>();

  private LockStore truth(Class<?>... capabilities) {
    return (LockStore)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            capabilities,
            (proxy, method, arguments) -> {
              if (method.getName().equals("purge")) {
                purged.add((Duration) arguments[0]);
                return CompletableFuture.completedFuture(7L);
              }
              return method.getName().equals("isMaintained")
                  ? true
                  : method.invoke(memory, arguments);
            });
  }

  @Test
  void aTruthWithoutCountersIsSaidToHaveNone() {
    try (GateStore pair = GateStore.over(new MemoryStore(), truth(LockStore.class));
        Pawl pawl = Pawl.over(pair)) {
      assertThatThrownBy(() -> pawl.counter("stock").tryTake(1))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("no counters");
      assertThatThrownBy(() -> pawl.maintenance().counters())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void idleLocksOfTheTruthAreForgotten() {
    try (GateStore pair =
            GateStore.over(new MemoryStore(), truth(LockStore.class, Maintainable.class));
        Pawl pawl = Pawl.over(pair)) {
      assertThat(pawl.maintenance().purge(DAY)).isEqualTo(7);
      assertThat(purged).containsExactly(DAY);
    }
  }

  @Test
  void aTruthThatForgetsByItselfHasNothingToMaintain() {
    try (GateStore pair = GateStore.over(new MemoryStore(), truth(LockStore.class));
        Pawl pawl = Pawl.over(pair)) {
      assertThatThrownBy(() -> pawl.maintenance().purge(DAY))
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }
}
