package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CounterLookTest {

  private static final Set<String> SILENT = Set.of("read", "history", "list");

  /** Has others in line before whoever looks at a counter. */
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
      Counter counter = pawl.counter("stock");
      assertThatThrownBy(counter::get)
          .isInstanceOf(StoreUnavailableException.class)
          .hasMessageEndingWith("has not answered");
      assertThatThrownBy(() -> counter.ledger().history(10))
          .isInstanceOf(StoreUnavailableException.class);
      assertThatThrownBy(() -> pawl.maintenance().counters())
          .isInstanceOf(StoreUnavailableException.class);
      assertThat(counter.async().get())
          .failsWithin(Duration.ofSeconds(5))
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(StoreUnavailableException.class);
    }
  }
}
