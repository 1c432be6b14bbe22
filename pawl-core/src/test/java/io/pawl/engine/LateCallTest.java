package io.pawl.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.concurrent.SystemTime;
import io.pawl.memory.MemoryStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A call to the store that comes as its client closes. */
class LateCallTest {

  /** Whoever closes may have seen it already, and waits until it has been answered. */
  @Test
  void aCallThatIsTurnedAwayIsAnswered() {
    AtomicBoolean givenUp = new AtomicBoolean();
    Lifecycle.OpenCall call =
        new Lifecycle.OpenCall() {
          @Override
          public String what() {
            return "call";
          }

          @Override
          public CompletableFuture<Void> repeatNoMore() {
            return new CompletableFuture<>();
          }

          @Override
          public void giveUp() {
            givenUp.set(true);
          }
        };
    try (SystemTime time = new SystemTime("timer")) {
      Engine engine = Engines.over(new MemoryStore(), time);
      engine.lifecycle().beginClosing();

      assertThatThrownBy(() -> engine.lifecycle().begin(call))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
      assertThat(givenUp).isTrue();
    }
  }
}
