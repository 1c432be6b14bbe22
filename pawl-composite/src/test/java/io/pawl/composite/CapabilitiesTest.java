package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
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
              if (method.getName().equals("diagnose")) {
                return List.of(new Finding(Level.OK, "is well", ""));
              }
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

  @Test
  void aGateThatCannotBeExaminedKeepsNobodyFromHearingOfTheTruth() {
    LockStore broken =
        (LockStore)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockStore.class, Diagnosable.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("diagnose")) {
                    throw new StoreUnavailableException("too many clients", null);
                  }
                  return method.invoke(memory, arguments);
                });
    try (GateStore pair = GateStore.over(broken, truth(LockStore.class, Diagnosable.class))) {
      assertThat(pair.diagnose())
          .containsExactly(
              new Finding(
                  Level.WARNING,
                  "gate: cannot be examined: too many clients",
                  "ask the doctor of the gate alone"),
              new Finding(Level.OK, "truth: is well", ""));
    }
  }
}
