package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** For how long a take is refused by a gate that nobody has told of a restock. */
class WrongRefusalsTest {

  private static final GateOptions USUAL = GateOptions.defaults();

  /** Comparisons are the test's. */
  private static final GateOptions OPTIONS = USUAL.settle(Duration.ofMinutes(1));

  private final MemoryStore gateStore = new MemoryStore();
  private final MemoryStore truth = new MemoryStore();
  private final Threads threads = new Threads();
  private final AtomicLong now = new AtomicLong();
  private final AtomicInteger ids = new AtomicInteger();
  private final Gate gate =
      new Gate("gate", gateStore, () -> gateStore, OPTIONS, threads, () -> {});
  private final Mirror mirror = new Mirror(gate, truth, OPTIONS, threads, now::get, new Random());
  private final GateCounters counters =
      new GateCounters(gate, truth, OPTIONS, threads, now::get, mirror);

  @BeforeEach
  void restockTheTruthAlone() {
    Seam.set(gateStore, "stock", 0);
    Seam.set(truth, "stock", 5);
  }

  @AfterEach
  void close() {
    threads.close();
  }

  private boolean isSoldAfter(Duration sinceTheFirst) {
    now.set(sinceTheFirst.toNanos());
    String id = "take " + ids.incrementAndGet();
    CounterRequest take =
        CounterRequest.of("stock", id, System.currentTimeMillis(), new Operation.Add(-1), false);
    return Seam.answer(counters.apply(take)) instanceof CounterAnswer.Applied;
  }

  /** Somebody has heard it just before a comparison has put it right. */
  @Test
  void aTakeIsRefusedForNoLongerThanThePeriodOfComparisonsAndTwiceWhatIsKept() {
    Duration kept = USUAL.soldOutKept();
    Duration compared = USUAL.settle();
    assertThat(isSoldAfter(Duration.ZERO)).isFalse();
    assertThat(isSoldAfter(compared.minusNanos(1))).isFalse();
    assertThat(mirror.settle(new Stock("stock"))).as("they differed").isTrue();
    assertThat(isSoldAfter(compared.plus(kept).minusNanos(2))).as("kept").isFalse();

    assertThat(isSoldAfter(compared.plus(kept))).isTrue();

    assertThat(compared.plus(kept.multipliedBy(2))).isEqualTo(Duration.ofMillis(1_500));
  }
}
