package io.pawl.tck.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Counter;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Outcome;
import io.pawl.counter.Outcome.Status;
import io.pawl.counter.Reservation;
import io.pawl.counter.Update;
import io.pawl.error.StoreException;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Operation;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore.Verb;
import io.pawl.tck.seam.NameCases;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** At most once, by id. */
public abstract class OperationIdCases extends CounterCases {

  private static final Instant EARLY = Instant.parse("2020-01-01T00:00:00Z");
  private static final Instant LATER = Instant.parse("2020-02-01T00:00:00Z");

  protected OperationIdCases(Bench bench) {
    super(bench);
  }

  @Test
  void p7_conservation_anIdIsAppliedOnceAndAnsweredAlike() {
    Counter counter = counter("once", 10);
    for (int i = 0; i < 10; i++) {
      assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));
      assertThat(elsewhere(counter).tryTake(3, OperationId.of("order")))
          .isEqualTo(new Change.Applied(7));
      counter.add(2, OperationId.of("back"));
    }
    assertThat(counter.get()).isEqualTo(9);
    assertConserved(counter);
  }

  @Test
  void p7_conservation_whatWasRefusedStaysRefused() {
    Counter counter = counter("refused", 1);
    assertThat(counter.tryTake(2, OperationId.of("order"))).isEqualTo(new Change.Refused(1));
    counter.add(5);

    assertThat(elsewhere(counter).tryTake(2, OperationId.of("order")))
        .isEqualTo(new Change.Refused(1));
    assertThat(counter.get()).isEqualTo(6);
  }

  @Test
  void everyKindOfChangeIsAppliedOnce() {
    Counter counter = counter("kinds");
    OperationId set = OperationId.of("set");
    OperationId cas = OperationId.of("cas");
    OperationId bounds = OperationId.of("bounds");
    OperationId add = OperationId.of("add");
    assertThat(counter.update(Update.set(5), set)).isEqualTo(new Change.Applied(5));
    assertThat(counter.update(Update.compareAndSet(5, 6), cas)).isEqualTo(new Change.Applied(6));
    assertThat(counter.update(Update.bounds(1, 100), bounds)).isEqualTo(new Change.Applied(6));
    assertThat(counter.add(1, add)).isEqualTo(new Change.Applied(7));
    counter.update(Update.bounds(0, 50));
    counter.update(Update.set(20));

    assertThat(counter.update(Update.set(5), set)).isEqualTo(new Change.Applied(5));
    assertThat(counter.update(Update.compareAndSet(5, 6), cas)).isEqualTo(new Change.Applied(6));
    assertThat(counter.update(Update.bounds(1, 100), bounds)).isEqualTo(new Change.Applied(6));
    assertThat(counter.add(1, add)).isEqualTo(new Change.Applied(7));
    assertThat(counter.get()).isEqualTo(20);
    assertThat(counter.read().ceiling()).isEqualTo(50);
    assertConserved(counter);
  }

  @Test
  void theSameIdForSomethingElseIsAConflictThatChangesNothing() {
    Counter counter = counter("conflict", 10);
    counter.tryTake(3, OperationId.of("order"));

    assertThatThrownBy(() -> counter.tryTake(2, OperationId.of("order")))
        .isInstanceOf(OperationConflictException.class)
        .hasMessageContaining(counter.name())
        .hasMessageContaining("'order'")
        .hasMessageContaining("add -2")
        .hasMessageContaining("add -3");
    assertThatThrownBy(() -> elsewhere(counter).add(3, OperationId.of("order")))
        .isInstanceOf(OperationConflictException.class);
    assertThatThrownBy(() -> counter.update(Update.set(3), OperationId.of("order")))
        .isInstanceOf(OperationConflictException.class);
    assertThatThrownBy(() -> counter.reserve(3, LONG, OperationId.of("order")))
        .isInstanceOf(OperationConflictException.class);
    assertThatThrownBy(() -> counter.confirm(OperationId.of("order")))
        .isInstanceOf(OperationConflictException.class);
    assertThat(counter.get()).isEqualTo(7);
    assertConserved(counter);
  }

  @Test
  void idsAreACountersOwn() {
    Counter one = counter("one", 5);
    Counter two = counter("two", 5);

    assertThat(one.tryTake(1, OperationId.of("order"))).isEqualTo(new Change.Applied(4));
    assertThat(two.tryTake(2, OperationId.of("order"))).isEqualTo(new Change.Applied(3));
  }

  @Test
  void idsAreComparedByteForByte() {
    Counter counter = counter("bytes", 1_000);
    int ids = 0;
    for (List<String> texts : List.of(NameCases.ALIKE, NameCases.HOSTILE)) {
      for (String text : texts) {
        assertThat(counter.tryTake(1, OperationId.of(text)).isApplied()).as(text).isTrue();
        ids++;
      }
    }
    assertThat(counter.get()).isEqualTo(1_000 - ids);
    String longest = "x".repeat(OperationId.MAX_BYTES);
    assertThat(counter.tryTake(1, OperationId.of(longest)).isApplied()).isTrue();
    assertThatThrownBy(() -> counter.tryTake(1, OperationId.of(longest + "x")))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(counter.tryTake(1, OperationId.of(longest.substring(1) + "y")).value())
        .isEqualTo(1_000 - ids - 2);
  }

  @Test
  void impossibleIdsAreRefusedBeforeAnythingIsSent() {
    Counter counter = counter("ids", 3);
    int before = network.calls(Verb.APPLY);
    for (String id : List.of("", "a\r\nb", "x".repeat(65_536), "\u0000", "\uDFFF")) {
      assertThatThrownBy(() -> counter.tryTake(1, OperationId.of(id)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("operation id");
      assertThatThrownBy(() -> counter.outcome(OperationId.of(id)))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(network.calls(Verb.APPLY)).isEqualTo(before);
  }

  @Test
  void theOutcomeOfAnIdIsWhatWasAnswered() throws Exception {
    Counter counter = counter("outcome", 10);
    counter.tryTake(3, OperationId.of("yes"));
    counter.tryTake(30, OperationId.of("no"));

    Outcome yes = elsewhere(counter).outcome(OperationId.of("yes"));
    assertThat(yes.status()).isEqualTo(Status.APPLIED);
    assertThat(yes.change()).isEqualTo(-3);
    assertThat(yes.value()).isEqualTo(7);
    assertThat(yes.operation()).isEqualTo("add -3");
    Outcome no = counter.async().outcome(OperationId.of("no")).get(20, TimeUnit.SECONDS);
    assertThat(no.status()).isEqualTo(Status.REFUSED);
    assertThat(no.change()).isZero();
    assertThat(no.value()).isEqualTo(7);
  }

  @Test
  void anOutcomeThatIsNeverStaysSo() {
    Counter counter = counter("never", 10);

    assertThat(counter.outcome(OperationId.of("lost")).status()).isEqualTo(Status.NEVER);

    assertThatThrownBy(() -> elsewhere(counter).tryTake(3, OperationId.of("lost")))
        .isInstanceOf(OperationConflictException.class)
        .hasMessageContaining("outcome");
    assertThat(elsewhere(counter).outcome(OperationId.of("lost")).status()).isEqualTo(Status.NEVER);
    assertThat(counter.get()).isEqualTo(10);
    assertConserved(counter);
  }

  /** Whoever was told "never" acts on it, so that a redelivery must find the answer. */
  @Test
  void p7_conservation_anOutcomeThatIsNeverOutlastsWhatIsOlderThanTheQuestion() {
    Counter counter = counter("asked", 10);
    Instant yesterday = Instant.now().minus(Duration.ofDays(1));
    assertThat(counter.outcome(OperationId.of("undated")).status()).isEqualTo(Status.NEVER);
    assertThat(counter.cancel(OperationId.of("cart"))).isTrue();
    OperationId dated = OperationId.of("dated", EARLY);
    assertThat(counter.outcome(dated).status()).isEqualTo(Status.NEVER);

    assertThat(elsewhere(counter).ledger().prune(yesterday)).isZero();

    for (String id : List.of("undated", "dated")) {
      assertThatThrownBy(() -> elsewhere(counter).tryTake(1, OperationId.of(id)))
          .isInstanceOf(OperationConflictException.class);
      assertThat(counter.outcome(OperationId.of(id)).status()).isEqualTo(Status.NEVER);
    }
    assertThatThrownBy(() -> counter.tryTake(1, dated))
        .isInstanceOf(OperationConflictException.class);
    assertThatThrownBy(() -> counter.reserve(1, LONG, OperationId.of("cart")))
        .isInstanceOf(OperationConflictException.class);
    assertThat(counter.get()).isEqualTo(10);
    assertConserved(counter);
  }

  @Test
  void nothingIsForgottenOfATimeThatIsStillToCome() {
    Counter counter = counter("future", 10);
    counter.tryTake(1, OperationId.of("order"));
    Instant tomorrow = Instant.now().plus(Duration.ofDays(1));
    int before = network.calls(Verb.READ);

    for (Instant wrong : List.of(tomorrow, Instant.MAX, Instant.MIN)) {
      assertThatThrownBy(() -> counter.ledger().prune(wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(wrong.toString());
    }
    assertThat(network.calls(Verb.READ)).isEqualTo(before);
    CounterStore store = (CounterStore) bench.store();
    assertThatThrownBy(
            () ->
                store
                    .prune(counter.name(), tomorrow)
                    .toCompletableFuture()
                    .get(20, TimeUnit.SECONDS))
        .cause()
        .isInstanceOf(StoreException.class)
        .hasMessageContaining(counter.name());

    assertThat(counter.tryTake(1, OperationId.of("order"))).isEqualTo(new Change.Applied(9));
    assertThat(counter.tryTake(1, OperationId.of("next"))).isEqualTo(new Change.Applied(8));
    assertThat(counter.outcome(OperationId.of("another")).status()).isEqualTo(Status.NEVER);
    assertConserved(counter);
  }

  @Test
  void anIdFromBeforeTheKeptTimeIsRefusedNotAppliedAgain() {
    Counter counter = counter("old", 10);
    OperationId old = OperationId.of("old", EARLY);
    OperationId kept = OperationId.of("kept", LATER);
    counter.tryTake(1, old);
    counter.tryTake(2, kept);
    OperationId held = OperationId.of("held", EARLY);
    Reservation reserved = counter.reserve(3, LONG, held);

    assertThat(counter.ledger().prune(LATER)).isEqualTo(1);
    assertThat(elsewhere(counter).ledger().prune(EARLY)).isZero();

    assertThat(elsewhere(counter).reserve(3, LONG, held)).isEqualTo(reserved);

    assertThatThrownBy(() -> counter.tryTake(1, old))
        .isInstanceOf(OperationTooOldException.class)
        .hasMessageContaining(counter.name())
        .hasMessageContaining("'old'");
    assertThatThrownBy(() -> elsewhere(counter).outcome(old))
        .isInstanceOf(OperationTooOldException.class);
    assertThatThrownBy(() -> counter.outcome(OperationId.of("old")))
        .isInstanceOf(OperationTooOldException.class);
    assertThat(counter.tryTake(2, kept)).isEqualTo(new Change.Applied(7));
    assertThat(counter.get()).isEqualTo(4);
    assertThat(counter.confirm(held)).isTrue();
    assertThat(counter.tryTake(1, OperationId.of("new"))).isEqualTo(new Change.Applied(3));
    assertThat(counter.outcome(OperationId.of("new")).status()).isEqualTo(Status.APPLIED);
    assertConserved(counter);
  }

  @Test
  void p7_conservation_anIdIsTooOldByAMillisecondAndNoSooner() {
    Counter counter = counter("edge", 10);
    OperationId old = OperationId.of("old", LATER.minusMillis(1));
    OperationId kept = OperationId.of("kept", LATER);
    counter.tryTake(1, old);
    counter.tryTake(2, kept);

    assertThat(counter.ledger().prune(LATER)).isEqualTo(1);

    OperationId justTooOld = OperationId.of("never known", LATER.minusMillis(1));
    for (OperationId id : List.of(old, justTooOld)) {
      assertThatThrownBy(() -> elsewhere(counter).tryTake(1, id))
          .isInstanceOf(OperationTooOldException.class);
    }
    assertThat(elsewhere(counter).tryTake(2, kept)).isEqualTo(new Change.Applied(7));
    assertThat(elsewhere(counter).tryTake(3, OperationId.of("just in time", LATER)))
        .isEqualTo(new Change.Applied(4));
    assertConserved(counter);
  }

  @Test
  void aFirstRefusalUnderAnIdThatNobodyKnowsLeavesNoEntry() throws Exception {
    CounterStore store = (CounterStore) bench.store();
    String name = bench.lock("unrecorded");
    apply(store, CounterRequest.of(name, "set", 0, new Operation.SetTo(1), true));
    CounterRequest take =
        CounterRequest.of(
            name,
            UUID.randomUUID().toString(),
            System.currentTimeMillis(),
            new Operation.Add(-2),
            false);

    assertThat(apply(store, take)).isInstanceOf(CounterAnswer.Refused.class);
    assertThat(store.history(name, 10).toCompletableFuture().get(20, TimeUnit.SECONDS)).hasSize(1);
    assertThat(apply(store, take.repeated())).isInstanceOf(CounterAnswer.Refused.class);
    assertThat(store.history(name, 10).toCompletableFuture().get(20, TimeUnit.SECONDS)).hasSize(2);
  }

  private static CounterAnswer apply(CounterStore store, CounterRequest request) throws Exception {
    return store.apply(request).toCompletableFuture().get(20, TimeUnit.SECONDS);
  }
}
