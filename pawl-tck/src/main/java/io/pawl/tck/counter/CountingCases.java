package io.pawl.tck.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Counter;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.error.NameInUseException;
import io.pawl.spi.Amounts;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.FaultyStore.Verb;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.seam.NameCases;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Values and bounds. */
public abstract class CountingCases extends CounterCases {

  protected CountingCases(Bench bench) {
    super(bench);
  }

  @Test
  void aCounterStartsAtZeroWithAFloorOfZero() {
    Counter counter = counter("new");

    assertThat(counter.get()).isZero();
    assertThat(counter.tryTake(1)).isEqualTo(new Change.Refused(0));
    assertThat(elsewhere(counter).get()).isZero();
    assertThat(counter.read().ceiling()).isEqualTo(Amounts.MAX);
  }

  @Test
  void whatOneClientChangesAllSee() {
    Counter counter = counter("seen");

    assertThat(counter.add(5)).isEqualTo(new Change.Applied(5));
    assertThat(elsewhere(counter).tryTake(2)).isEqualTo(new Change.Applied(3));
    assertThat(counter.add(1)).isEqualTo(new Change.Applied(4));
    assertThat(counter.update(Update.set(10))).isEqualTo(new Change.Applied(10));
    assertThat(elsewhere(counter).update(Update.compareAndSet(9, 1)))
        .isEqualTo(new Change.Refused(10));
    assertThat(elsewhere(counter).update(Update.compareAndSet(10, 1)))
        .isEqualTo(new Change.Applied(1));
    assertThat(counter.add(-1)).isEqualTo(new Change.Applied(0));
    assertThat(elsewhere(counter).get()).isZero();
    assertConserved(counter);
  }

  @Test
  void everyCounterIsListedOnce() {
    Counter first = counter("listed one");
    Counter second = counter("listed two");
    first.add(1);
    second.add(1);
    counter("not listed, since nothing was ever entered").get();

    assertThat(there.maintenance().counters())
        .doesNotHaveDuplicates()
        .contains(first.name(), second.name())
        .noneMatch(name -> name.contains("not listed"));
  }

  /** Whoever goes through all counters goes page by page, and needs each once. */
  @Test
  void aPageOfCountersBeginsBehindTheNameThatItIsGiven() {
    List<String> names = new ArrayList<>();
    for (String text : List.of("page a", "page b", "page c")) {
      Counter counter = counter(text, 1);
      names.add(counter.name());
    }
    CounterStore store = (CounterStore) bench.store();

    assertThat(page(store, names.get(0), 1)).containsExactly(names.get(1));
    assertThat(page(store, names.get(1), 1)).containsExactly(names.get(2));
    assertThat(page(store, names.get(0), 2)).containsExactly(names.get(1), names.get(2));
    assertThat(page(store, names.get(2), 1_000)).doesNotContainAnyElementsOf(names);
  }

  private static List<String> page(CounterStore store, String after, int limit) {
    return SeamClient.answer(() -> store.list(after, limit)).stream()
        .map(CounterView::name)
        .toList();
  }

  @Test
  void asynchronousFormsDoTheSame() throws Exception {
    Counter counter = counter("async");

    assertThat(counter.async().add(5).get(20, TimeUnit.SECONDS)).isEqualTo(new Change.Applied(5));
    assertThat(counter.async().tryTake(2).get(20, TimeUnit.SECONDS))
        .isEqualTo(new Change.Applied(3));
    assertThat(counter.async().tryTake(4).get(20, TimeUnit.SECONDS))
        .isEqualTo(new Change.Refused(3));
    assertThat(counter.async().get().get(20, TimeUnit.SECONDS)).isEqualTo(3);
  }

  @Test
  void p7_conservation_aCounterNeverPassesItsFloor() {
    Counter counter = counter("floor", 3);

    assertThat(counter.tryTake(4)).isEqualTo(new Change.Refused(3));
    assertThat(counter.add(-4)).isEqualTo(new Change.Refused(3));
    assertThat(counter.update(Update.set(-1))).isEqualTo(new Change.Refused(3));
    assertThat(counter.update(Update.compareAndSet(3, -1))).isEqualTo(new Change.Refused(3));
    assertThat(counter.tryTake(3)).isEqualTo(new Change.Applied(0));
    assertThat(counter.tryTake(1)).isEqualTo(new Change.Refused(0));
    assertConserved(counter);
  }

  @Test
  void p7_conservation_aCounterNeverPassesItsCeiling() {
    Counter counter = counter("ceiling", 3);
    assertThat(counter.update(Update.bounds(-2, 5))).isEqualTo(new Change.Applied(3));

    assertThat(counter.add(3)).isEqualTo(new Change.Refused(3));
    assertThat(elsewhere(counter).update(Update.set(6))).isEqualTo(new Change.Refused(3));
    assertThat(elsewhere(counter).add(2)).isEqualTo(new Change.Applied(5));
    assertThat(elsewhere(counter).tryTake(7)).isEqualTo(new Change.Applied(-2));
    assertThat(counter.tryTake(1)).isEqualTo(new Change.Refused(-2));
    assertConserved(counter);
  }

  @Test
  void boundsThatExcludeTheValueAreRefused() {
    Counter counter = counter("bounds", 3);

    assertThat(counter.update(Update.bounds(4, 9))).isEqualTo(new Change.Refused(3));
    assertThat(counter.update(Update.bounds(0, 2))).isEqualTo(new Change.Refused(3));
    assertThat(counter.update(Update.bounds(3, 3))).isEqualTo(new Change.Applied(3));
    assertThat(counter.read().floor()).isEqualTo(3);
    assertThat(counter.read().ceiling()).isEqualTo(3);
  }

  @Test
  void numbersArriveExact() {
    Counter counter = counter("exact", Amounts.MAX);

    assertThat(counter.add(1)).isEqualTo(new Change.Refused(Amounts.MAX));
    assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(Amounts.MAX - 1));
    assertThat(elsewhere(counter).get()).isEqualTo(Amounts.MAX - 1);
    assertThat(counter.tryTake(Amounts.MAX)).isEqualTo(new Change.Refused(Amounts.MAX - 1));
    assertThat(counter.update(Update.bounds(-Amounts.MAX, Amounts.MAX)).isApplied()).isTrue();
    assertThat(counter.update(Update.set(-Amounts.MAX)))
        .isEqualTo(new Change.Applied(-Amounts.MAX));
    assertThat(counter.tryTake(1)).isEqualTo(new Change.Refused(-Amounts.MAX));
    assertConserved(counter);
  }

  @Test
  void impossibleAmountsAreRefusedBeforeAnythingIsSent() {
    Counter counter = counter("amounts", 3);
    int before = network.calls(Verb.APPLY);

    for (long amount : new long[] {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, Amounts.MAX + 1}) {
      assertRefused(() -> counter.tryTake(amount), amount);
      assertRefused(() -> counter.reserve(amount, LONG, OperationId.of("id")), amount);
      assertRefused(() -> counter.async().tryTake(amount), amount);
    }
    for (long amount : new long[] {0, Long.MIN_VALUE, -Amounts.MAX - 1, Amounts.MAX + 1}) {
      assertRefused(() -> counter.add(amount), amount);
    }
    for (long value : new long[] {Long.MIN_VALUE, -Amounts.MAX - 1, Amounts.MAX + 1}) {
      assertRefused(() -> counter.update(Update.set(value)), value);
      assertRefused(() -> counter.update(Update.compareAndSet(value, 1)), value);
      assertRefused(() -> counter.update(Update.compareAndSet(1, value)), value);
      assertRefused(() -> counter.update(Update.bounds(value, value)), value);
    }
    assertRefused(() -> counter.update(Update.bounds(2, 1)), 2);

    assertThat(network.calls(Verb.APPLY)).isEqualTo(before);
    assertThat(counter.get()).isEqualTo(3);
  }

  private interface Asking {
    Object ask();
  }

  private static void assertRefused(Asking asking, long number) {
    assertThatThrownBy(asking::ask)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(number));
  }

  @Test
  void impossibleNamesAreRefused() {
    for (String name : List.of("", "a\nb", "x".repeat(65_536), "\u0000", "\uD800")) {
      assertThatThrownBy(() -> here.counter(name))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("counter name");
    }
  }

  @Test
  void namesThatDifferInCaseAccentSpaceOrNormalFormAreDifferentCounters() {
    List<Counter> counters = new ArrayList<>();
    for (String text : NameCases.ALIKE) {
      counters.add(counter(text, counters.size() + 1L));
    }
    for (String text : NameCases.HOSTILE) {
      counters.add(counter(text, counters.size() + 1L));
    }
    for (int i = 0; i < counters.size(); i++) {
      assertThat(elsewhere(counters.get(i)).get()).as(counters.get(i).name()).isEqualTo(i + 1L);
    }
  }

  @Test
  void theNameOfALockIsNoCounters() throws Exception {
    Counter counter = counter("lock");
    try (var lease = there.lock(counter.name(), Bench.LONG).acquire()) {
      assertThatThrownBy(() -> counter.add(1))
          .isInstanceOf(NameInUseException.class)
          .hasMessageContaining(counter.name());
      assertThat(lease.isValid()).isTrue();
    }
  }

  @Test
  void theNameOfACounterIsNoLocks() {
    Counter counter = counter("counter", 3);

    for (int i = 0; i < 2; i++) { // what became of the first must not let the second in
      assertThatThrownBy(() -> there.lock(counter.name()).tryAcquire())
          .isInstanceOf(NameInUseException.class)
          .hasMessageContaining(counter.name());
    }
    assertThat(there.evict(counter.name(), 1)).isFalse();
    assertThat(counter.get()).isEqualTo(3);
    assertThat(counter.add(1).isApplied()).isTrue();
  }

  @Test
  void theNameOfACounterIsNoSemaphoresByAChangeOfCapacityEither() {
    Counter counter = counter("counter", 3);

    assertThatThrownBy(() -> there.semaphore(counter.name(), 3).changeCapacity(4))
        .isInstanceOf(NameInUseException.class)
        .hasMessageContaining(counter.name());
    assertThatThrownBy(() -> there.semaphore(counter.name(), 4).tryAcquire(1))
        .isInstanceOf(NameInUseException.class);
    assertThat(counter.get()).isEqualTo(3);
  }

  @Test
  void theLedgerTellsTheLastOperationsNewestFirst() {
    Counter counter = counter("history", 10);
    counter.tryTake(3, OperationId.of("a"));
    counter.tryTake(30, OperationId.of("b"));
    counter.add(1, OperationId.of("c"));

    List<Outcome> last = counter.ledger().history(3);
    assertThat(last).extracting(Outcome::id).containsExactly("c", "b", "a");
    assertThat(last).extracting(Outcome::operation).containsExactly("add 1", "add -30", "add -3");
    assertThat(last).extracting(Outcome::change).containsExactly(1L, 0L, -3L);
    assertThat(last).extracting(Outcome::value).containsExactly(8L, 7L, 7L);
    assertThat(counter("unheard").ledger().history(3)).isEmpty();
    assertConserved(counter);
  }
}
