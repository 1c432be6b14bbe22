package io.pawl.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.counter.OperationId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A counter in memory knows its last 100,000 operations, and forgets the others. */
class ForgettingTest {

  private static final int MORE_THAN_KEPT = 111_000;

  private final MemoryStore store = new MemoryStore();

  private CounterAnswer add(OperationId id) {
    CounterRequest request =
        CounterRequest.of("stock", id.text(), issued(id), new Operation.Add(1), true);
    return store.apply(request).toCompletableFuture().join();
  }

  private static long issued(OperationId id) {
    return Objects.requireNonNull(id.issued()).toEpochMilli();
  }

  private static OperationId id(String text) {
    return OperationId.of(text, Instant.now());
  }

  @Test
  void anIdOfAClockThatIsAheadIsKeptAndRefusesNobodyElse() {
    OperationId ahead = OperationId.of("ahead", Instant.now().plus(Duration.ofDays(3_000)));
    CounterAnswer first = add(ahead);
    OperationId old = id("old");
    add(old);
    Instant start = Instant.now();
    while (!Instant.now().isAfter(start.plusMillis(10))) {
      Thread.onSpinWait();
    }
    for (int i = 0; i < MORE_THAN_KEPT; i++) {
      assertThat(add(id("id" + i))).isInstanceOf(CounterAnswer.Applied.class);
    }

    assertThat(add(ahead)).isEqualTo(first);
    assertThat(add(old)).isInstanceOf(CounterAnswer.TooOld.class);
    assertThat(add(id("next"))).isInstanceOf(CounterAnswer.Applied.class);
    assertConserved(MORE_THAN_KEPT + 3);
  }

  @Test
  void whatAQuestionClosedIsForgottenAsIfItWereAsOldAsTheQuestion() {
    Instant beforeTheQuestion = Instant.now();
    CounterRequest question = CounterRequest.of("stock", "asked", 0, Operation.CLOSE, true);
    store.apply(question).toCompletableFuture().join();
    for (int i = 0; i < MORE_THAN_KEPT; i++) {
      add(id("id" + i));
    }

    assertThat(add(OperationId.of("asked", beforeTheQuestion)))
        .isInstanceOf(CounterAnswer.TooOld.class);
    assertConserved(MORE_THAN_KEPT);
  }

  @Test
  void p7_conservation_theLastHundredThousandIdsAreKnown() {
    List<OperationId> ids = new ArrayList<>();
    List<CounterAnswer> answers = new ArrayList<>();
    for (int i = 0; i < MORE_THAN_KEPT; i++) {
      ids.add(id("id" + i));
      answers.add(add(ids.get(i)));
    }

    for (int i = MORE_THAN_KEPT - 100_000; i < MORE_THAN_KEPT; i++) {
      assertThat(add(ids.get(i))).isEqualTo(answers.get(i));
    }

    assertConserved(MORE_THAN_KEPT);
  }

  private void assertConserved(long value) {
    CounterView view = store.read("stock").toCompletableFuture().join().orElseThrow();
    long changes =
        store.history("stock", Integer.MAX_VALUE).toCompletableFuture().join().stream()
            .mapToLong(LedgerEntry::change)
            .sum();
    assertThat(view.value()).isEqualTo(value);
    assertThat(view.forgotten() + changes).isEqualTo(value);
  }
}
