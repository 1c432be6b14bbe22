package io.pawl;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.memory.MemoryStore;
import org.junit.jupiter.api.Test;

class InspectionTest {

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
}
