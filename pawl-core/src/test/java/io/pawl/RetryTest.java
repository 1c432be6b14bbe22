package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.engine.Retry;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetryTest {

  /** So that its end comes while the next repetition is waited for. */
  private static final Duration PATIENCE = Duration.ofMillis(2_350);

  /** Else it would undo what its caller does next. */
  @Test
  void whatWasToldAsFailedIsAskedForNoMore() {
    ScriptedClient client = new ScriptedClient(PawlOptions.defaults().patience(PATIENCE));
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Void> answer =
        Retry.bounded(
            client.engine(),
            "lock",
            () -> {
              asked.incrementAndGet();
              return CompletableFuture.failedFuture(new StoreUnavailableException("refused"));
            },
            false);

    client.pass(PATIENCE);
    assertThat(answer).isNotDone();
    client.pass(client.store().answerTime().plusMillis(10));

    assertThat(answer)
        .failsWithin(Duration.ZERO)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("refused");
    int before = asked.get();
    client.pass(Duration.ofSeconds(2));
    assertThat(asked).hasValue(before);
  }
}
