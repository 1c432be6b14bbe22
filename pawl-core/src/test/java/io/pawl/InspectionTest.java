package io.pawl;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class InspectionTest {

  private static final Set<String> SILENT = Set.of("show", "evict", "setKind");

  @Test
  void aStoreThatCannotBeLookedIntoIsNamed() {
    try (Pawl pawl = Pawl.over(new ScriptedStore())) {
      assertThatThrownBy(() -> pawl.inspect("x"))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessage("scripted cannot say who holds 'x'");
      assertThatThrownBy(() -> pawl.evict("x", 1))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).availablePermits())
          .isInstanceOf(UnsupportedOperationException.class);
    }
  }

  @Test
  void aClosedClientLooksAtNothing() {
    Pawl pawl = Pawl.over(new MemoryStore());
    pawl.close();
    assertThatThrownBy(() -> pawl.inspect("x")).isInstanceOf(IllegalStateException.class);
  }

  /** Has others in line before whoever looks into it. */
  private static LockStore silent() {
    return TwistedStore.of(
        new MemoryStore(),
        (verb, arguments, usual) ->
            SILENT.contains(verb) ? new CompletableFuture<>() : usual.answer());
  }

  @Test
  @Timeout(value = 20, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aStoreThatKeepsSilentIsWaitedForNoLongerThanTheClientIsPatient() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(200));
    try (Pawl pawl = Pawl.over(silent(), impatient)) {
      assertThatThrownBy(() -> pawl.inspect("x"))
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageEndingWith("has not answered");
      assertThatThrownBy(() -> pawl.evict("x", 1)).isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).availablePermits())
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.semaphore("x", 2).changeCapacity(3))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.election("x").leader())
          .isInstanceOf(StoreUnavailableException.class);
    }
  }
}
