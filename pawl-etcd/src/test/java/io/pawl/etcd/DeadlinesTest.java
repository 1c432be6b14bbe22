package io.pawl.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.error.StoreUnavailableException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class DeadlinesTest {

  @Test
  void aDeadlineThatFailsLeavesTheOthersTheirs() {
    try (Deadlines deadlines = new Deadlines("store", Duration.ofMillis(50).toNanos())) {
      CompletableFuture<Void> failing = new CompletableFuture<>();
      CompletableFuture<Void> unbegun = new CompletableFuture<>();
      deadlines.limit(
          failing,
          () -> {
            throw new OutOfMemoryError("scripted");
          });
      deadlines.limit(unbegun, () -> false);
      CompletableFuture<Void> begun = deadlines.limited(new CompletableFuture<>());

      assertThat(unbegun)
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .havingCause()
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, late -> assertThat(late.isUnsent()).isTrue());
      assertThat(begun)
          .failsWithin(Duration.ofSeconds(20))
          .withThrowableThat()
          .havingCause()
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, late -> assertThat(late.isUnsent()).isFalse());
      assertThat(failing).isNotDone();
    }
  }
}
