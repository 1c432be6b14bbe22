package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.counter.OutcomeUnknownException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.LockStore;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that fails, and is silent when it is asked again: its own timeout may be long. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CounterPatienceTest {

  private static final PawlOptions IMPATIENT =
      PawlOptions.defaults().patience(Duration.ofMillis(200));

  private final MemoryStore memory = new MemoryStore();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile Supplier<CompletableFuture<?>> again = CompletableFuture::new;

  @Test
  void p7_conservation_aChangeThatIsAskedForAgainIsUnknownOnceThePatienceIsOver() {
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      assertThatThrownBy(() -> pawl.counter("stock").tryTake(1))
          .isInstanceOf(OutcomeUnknownException.class);
      assertThat(asked).hasValue(2);
    }
  }

  @Test
  void aChangeThatNobodyWaitsForOnAThreadIsUnknownThenToo() {
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      assertThatThrownBy(() -> pawl.counter("stock").async().tryTake(1).get(50, TimeUnit.SECONDS))
          .hasCauseInstanceOf(OutcomeUnknownException.class);
    }
  }

  @Test
  void aLookThatIsRepeatedEndsWithThePatience() {
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      assertThatThrownBy(() -> pawl.counter("stock").get())
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  /** It may take minutes, and goes on where it was. */
  @Test
  void aPruneThatIsRepeatedTakesItsTime() {
    again =
        () ->
            CompletableFuture.supplyAsync(
                () -> 7L, CompletableFuture.delayedExecutor(2, TimeUnit.SECONDS));
    try (Pawl pawl = Pawl.over(store(), IMPATIENT)) {
      assertThat(pawl.counter("stock").ledger().prune(Instant.EPOCH)).isEqualTo(7);
    }
  }

  private LockStore store() {
    return TwistedStore.of(
        memory,
        (verb, arguments, usual) ->
            switch (verb) {
              case "apply", "read", "prune" ->
                  asked.getAndIncrement() == 0
                      ? CompletableFuture.failedFuture(new StoreUnavailableException("cut"))
                      : again.get();
              default -> usual.answer();
            });
  }
}
