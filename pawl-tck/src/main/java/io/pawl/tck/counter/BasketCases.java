package io.pawl.tck.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.BasketChange;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome.Status;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Several counters at once: all or nothing. */
public abstract class BasketCases extends CounterCases {

  private static final OperationId ORDER = OperationId.of("order");

  protected BasketCases(Bench bench) {
    super(bench);
  }

  @Test
  void p7_conservation_aBasketIsTakenAsAWhole() {
    Counter a = counter("a", 5);
    Counter b = counter("b", 5);
    Map<String, Long> basket = Map.of(a.name(), 2L, b.name(), 5L);

    BasketChange taken = here.tryTakeAll(basket, ORDER);

    assertThat(taken).isEqualTo(new BasketChange.Applied(Map.of(a.name(), 3L, b.name(), 0L)));
    assertThat(there.tryTakeAll(basket, ORDER)).isEqualTo(taken);
    assertThat(a.get()).isEqualTo(3);
    assertThat(b.get()).isZero();
    assertConserved(a);
    assertConserved(b);
  }

  @Test
  void p7_conservation_aBasketThatLacksOneThingTakesNothing() throws Exception {
    Counter a = counter("a", 5);
    Counter b = counter("b", 1);
    Map<String, Long> basket = Map.of(a.name(), 2L, b.name(), 2L);

    BasketChange refused = here.tryTakeAll(basket, ORDER);
    assertThat(refused).isEqualTo(new BasketChange.Refused(Map.of(a.name(), 5L, b.name(), 1L)));
    b.add(10);

    assertThat(there.tryTakeAllAsync(basket, ORDER).get(20, TimeUnit.SECONDS)).isEqualTo(refused);
    assertThat(a.tryTake(2, OperationId.of("order"))).isEqualTo(new Change.Refused(5));
    assertThat(a.outcome(OperationId.of("order")).status()).isEqualTo(Status.REFUSED);
    assertThat(a.get()).isEqualTo(5);
    assertThat(b.get()).isEqualTo(11);
    assertConserved(a);
    assertConserved(b);
  }

  @Test
  void anIdThatOneCounterKnowsIsAConflictForABasket() {
    Counter a = counter("a", 5);
    Counter b = counter("b", 5);
    a.tryTake(1, OperationId.of("order"));

    assertThatThrownBy(() -> here.tryTakeAll(Map.of(a.name(), 2L, b.name(), 1L), ORDER))
        .isInstanceOf(OperationConflictException.class);
    assertThatThrownBy(() -> here.tryTakeAll(Map.of(a.name(), 1L, b.name(), 1L), ORDER))
        .isInstanceOf(OperationConflictException.class);
    assertThat(a.get()).isEqualTo(4);
    assertThat(b.get()).isEqualTo(5);
  }

  /** What one of its counters has forgotten is no reason to send it again under another id. */
  @Test
  void aBasketThatOneCounterHasForgottenIsTooOldAndNoConflict() {
    Counter a = counter("a", 5);
    Counter b = counter("b", 5);
    Map<String, Long> basket = Map.of(a.name(), 1L, b.name(), 1L);
    Instant now = Instant.now();
    OperationId old = OperationId.of("order", now.minus(Duration.ofHours(3)));
    here.tryTakeAll(basket, old);

    a.ledger().prune(now.minus(Duration.ofHours(1)));

    assertThatThrownBy(() -> there.tryTakeAll(basket, old))
        .isInstanceOf(OperationTooOldException.class)
        .hasMessageContaining(a.name());
    assertThat(a.get()).isEqualTo(4);
    assertThat(b.get()).isEqualTo(4);
  }

  @Test
  void p7_conservation_aBasketMayBeOfAHundredCounters() {
    Map<String, Long> basket = new HashMap<>();
    for (int i = 0; i < 100; i++) {
      basket.put(counter("h" + i, 2).name(), 1L);
    }

    assertThat(here.tryTakeAll(basket, ORDER).isApplied()).isTrue();
    assertThat(there.tryTakeAll(basket, ORDER).isApplied()).as("once more").isTrue();

    assertThat(basket.keySet()).allMatch(name -> there.counter(name).get() == 1);
  }

  @Test
  void impossibleBasketsAreRefused() {
    Map<String, Long> tooMany = new HashMap<>();
    for (int i = 0; i < 101; i++) {
      tooMany.put(bench.lock("x" + i), 1L);
    }
    assertThatThrownBy(() -> here.tryTakeAll(tooMany, ORDER))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("101");
    assertThatThrownBy(() -> here.tryTakeAll(Map.of(), ORDER))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> here.tryTakeAll(Map.of(bench.lock("x"), 0L), ORDER))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(bench.lock("x"));
    assertThatThrownBy(() -> here.tryTakeAll(Map.of("", 1L), ORDER))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("counter name");
  }

  @Test
  void crossingBasketsNeitherDeadlockNorOversell() {
    Counter a = counter("a", 100);
    Counter b = counter("b", 100);
    Counter c = counter("c", 100);
    String[] names = {a.name(), b.name(), c.name()};

    AtomicInteger taken = new AtomicInteger();

    bench.parallel(
        240,
        i -> {
          String first = names[i % 3];
          String second = names[(i + 1 + i / 3 % 2) % 3];
          Map<String, Long> basket = Map.of(first, 1L, second, 1L);
          Pawl client = i % 2 == 0 ? here : there;
          if (client.tryTakeAll(basket, OperationId.of("basket" + i)).isApplied()) {
            taken.incrementAndGet();
          }
        });

    assertThat(a.get() + b.get() + c.get()).isEqualTo(300 - 2L * taken.get());
    for (Counter counter : new Counter[] {a, b, c}) {
      assertConserved(counter);
    }
  }
}
