package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** A job may come once a day, when its store is being started again. */
class ScheduledJobTest {

  private final ScriptedStore store = new ScriptedStore();

  /** By one claim, under whose id the store applies it once: another one would meet the first. */
  @Test
  void aStoreThatDoesNotAnswerAtFirstIsAskedAgain() throws Exception {
    answersLate(answer -> answer.completeExceptionally(ScriptedStore.unavailable()));
    store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(1)));

    assertThat(runs()).isTrue();

    assertThat(store.attempts).hasSize(2);
    assertThat(store.attempt(1).claim().id()).isEqualTo(store.attempt(0).claim().id());
  }

  @Test
  void aStoreThatAnswersSlowlyGrantsTheRun() throws Exception {
    answersLate(answer -> answer.complete(ScriptedStore.held(1)));

    assertThat(runs()).isTrue();

    assertThat(store.attempts).hasSize(1);
  }

  /** Later than tryAcquire() waits for it. */
  private void answersLate(Consumer<CompletableFuture<Standing>> answering) {
    CompletableFuture<Standing> late = new CompletableFuture<>();
    store.answers.add(late);
    store.asked =
        claim ->
            CompletableFuture.delayedExecutor(700, TimeUnit.MILLISECONDS)
                .execute(() -> answering.accept(late));
  }

  private boolean runs() throws Exception {
    try (Pawl pawl = Pawl.over(store)) {
      return pawl.job("nightly").run(lease -> {});
    }
  }

  @Test
  void aStoreThatKeepsSilentFailsTheRunOnceThePatienceIsOver() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(1));
    try (Pawl pawl = Pawl.over(store, impatient)) {
      assertThatThrownBy(() -> pawl.job("nightly").run(lease -> {}))
          .isInstanceOf(StoreUnavailableException.class);
    }
    assertThat(store.attempts).hasSize(1);
  }
}
