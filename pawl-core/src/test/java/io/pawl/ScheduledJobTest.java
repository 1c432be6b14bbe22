package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A job may come once a day, when its store is being started again. */
class ScheduledJobTest {

  private final ScriptedStore store = new ScriptedStore();

  @Test
  void aStoreThatDoesNotAnswerAtFirstIsAskedAgain() {
    store.answers.add(new CompletableFuture<>());
    store.answers.add(CompletableFuture.completedFuture(ScriptedStore.held(1)));
    try (Pawl pawl = Pawl.over(store)) {
      assertThat(pawl.job("nightly").run(lease -> {})).isTrue();
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

  @Test
  void anInterruptEndsTheAskingAndIsKept() {
    PawlOptions patient = PawlOptions.defaults().patience(Duration.ofHours(1));
    try (Pawl pawl = Pawl.over(store, patient)) {
      store.asked = claim -> Thread.currentThread().interrupt();
      assertThatThrownBy(() -> pawl.job("nightly").run(lease -> {}))
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(Thread.interrupted()).as("interrupted").isTrue();
    }
  }
}
