package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Update;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.Operation;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A gate that fails, forgets or lies, and clients that die between it and the truth. */
class CounterFaultsTest {

  private static final GateOptions BRISK =
      GateOptions.defaults()
          .gatePause(Duration.ofMillis(50))
          .soldOutKept(Duration.ofMillis(50))
          .settle(Duration.ofMillis(50));

  private static final GateOptions EARLY =
      GateOptions.defaults().soldOutKept(Duration.ofSeconds(1)).refusesCallersIds(true);

  private static final PawlOptions IMPATIENT = PawlOptions.defaults().patience(Duration.ZERO);

  private final MemoryStore gate = new MemoryStore();
  private final MemoryStore truth = new MemoryStore();
  private final FaultyStore toGate = new FaultyStore(gate);
  private final FaultyStore toTruth = new FaultyStore(truth);
  private final GateStore store = GateStore.over(toGate, toTruth, BRISK);
  private final Pawl pawl = Pawl.over(store, IMPATIENT);
  private final GateStore otherStore = GateStore.over(gate, truth, BRISK);
  private final Pawl other = Pawl.over(otherStore, IMPATIENT);
  private final Counter stock = pawl.counter("stock");

  @AfterEach
  void close() {
    toGate.close();
    toTruth.close();
    pawl.close();
    other.close();
    store.close();
    otherStore.close();
  }

  private void agree(long value) {
    await()
        .untilAsserted(
            () -> {
              assertThat(Seam.value(truth, "stock")).isEqualTo(value);
              assertThat(Seam.value(gate, "stock")).isEqualTo(value);
            });
  }

  @Test
  void gateAndTruthAgreeSoonAfterTheLastOperation() {
    stock.update(Update.set(10));
    stock.tryTake(3);
    other.counter("stock").tryTake(2, OperationId.of("order"));
    agree(5);
    stock.update(Update.bounds(-5, 20));
    stock.tryTake(9);
    agree(-4);
    assertThat(Seam.answer(gate.read("stock")).orElseThrow().floor()).isEqualTo(-5);
  }

  /** Somebody reads at the gate what it said before it is told of the restock. */
  @Test
  void whatAClientGivesBackItselfCountsAtOnce() throws Exception {
    GateOptions patient = GateOptions.defaults().soldOutKept(Duration.ofSeconds(1));
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch arrives = new CountDownLatch(1);
    AtomicBoolean slow = new AtomicBoolean();
    LockStore slowGate =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class, CounterStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("apply") && slow.getAndSet(false)) {
                    told.countDown();
                    arrives.await();
                  }
                  return method.invoke(gate, arguments);
                });
    try (GateStore own = GateStore.over(slowGate, truth, patient);
        Pawl client = Pawl.over(own)) {
      Counter shop = client.counter("stock");
      shop.update(Update.set(0));
      agree(0);
      slow.set(true);
      CompletableFuture<Void> restock =
          CompletableFuture.runAsync(() -> shop.add(5), task -> new Thread(task).start());
      assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
      shop.tryTake(1); // may be refused, by what the gate still says

      arrives.countDown();
      restock.get(20, TimeUnit.SECONDS);

      assertThat(shop.tryTake(1).isApplied()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 3, 1_000_000})
  void p7_conservation_anOldGateSellsNothingAndRefusesNotForLong(long old) {
    stock.update(Update.set(5));
    agree(5);
    Seam.set(gate, "stock", old);

    Pawl fresh = Pawl.over(otherStore);
    int sold = 0;
    for (int i = 0; i < 20; i++) {
      sold += fresh.counter("stock").tryTake(1).isApplied() ? 1 : 0;
    }
    assertThat(sold).isLessThanOrEqualTo(5);
    int soldAtOnce = sold;
    AtomicLong soldLater = new AtomicLong();
    await()
        .untilAsserted(
            () -> {
              soldLater.addAndGet(fresh.counter("stock").tryTake(1).isApplied() ? 1 : 0);
              assertThat(soldAtOnce + soldLater.get()).isEqualTo(5);
            });
    assertThat(fresh.counter("stock").tryTake(1).isApplied()).isFalse();
    agree(0);
    fresh.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.class,
      names = {"LOSE_REQUEST", "LOSE_REPLY", "THROW"})
  void withTheGateAwayEverythingWorksOnTheTruth(Fault fault) {
    toGate.on(Verb.APPLY, fault).on(Verb.READ, fault).on(Verb.RENEW, Fault.LOSE_REQUEST);

    assertThat(stock.update(Update.set(3)).isApplied()).isTrue();
    await().until(store::isGateAway);
    int asked = toGate.calls(Verb.APPLY) + toGate.calls(Verb.READ);
    assertThat(stock.tryTake(2).value()).isEqualTo(1);
    assertThat(stock.tryTake(2).isApplied()).isFalse();
    assertThat(stock.tryTake(2).isApplied()).isFalse();
    assertThat(stock.tryTake(1).isApplied()).isTrue();
    assertThat(stock.add(4).value()).isEqualTo(4);
    assertThat(stock.tryTake(4).isApplied()).isTrue();
    assertThat(toGate.calls(Verb.APPLY) + toGate.calls(Verb.READ)).isEqualTo(asked);

    toGate.heal();
    await().until(() -> !store.isGateAway());
    agree(0);
  }

  /** The gate stays, for locks. */
  @Test
  void whereTheGateDeniesCountersEverythingWorksOnTheTruth() {
    toGate.on(Verb.APPLY, Fault.DENY).on(Verb.READ, Fault.DENY);

    assertThat(stock.update(Update.set(3)).isApplied()).isTrue();
    assertThat(stock.tryTake(2).value()).isEqualTo(1);
    assertThat(stock.tryTake(2).isApplied()).isFalse();
    assertThat(stock.tryTake(1).isApplied()).isTrue();
    assertThat(stock.add(4).value()).isEqualTo(4);
    assertThat(stock.tryTake(4).isApplied()).isTrue();
    assertThat(store.isGateAway()).isFalse();

    toGate.heal();
    agree(0);
  }

  /** Whoever gives back dies before it could tell the gate. */
  @Test
  void aCrashBetweenTruthAndGateIsMadeGoodByWhoeverComesNext() {
    stock.update(Update.set(0));
    agree(0);
    assertThat(other.counter("stock").tryTake(1).isApplied()).isFalse();
    toGate.cut();
    stock.add(1);
    pawl.close();
    store.close();

    await().until(() -> other.counter("stock").tryTake(1).isApplied());

    assertThat(other.counter("stock").get()).isZero();
    agree(0);
  }

  @Test
  void aChangeUnderWayIsAnsweredThoughTheStoreIsClosedMeanwhile() {
    toTruth.next(Verb.APPLY, Fault.HOLD_REPLY);
    CounterRequest request = CounterRequest.of("stock", "late", 0, new Operation.SetTo(5), true);
    CompletionStage<CounterAnswer> answer = store.apply(request);

    store.close();
    toTruth.resume();

    assertThat(Seam.answer(answer)).isInstanceOf(CounterAnswer.Applied.class);
  }

  @Test
  void whatAReservationReturnsIsSoldThoughNobodyTellsTheGate() {
    stock.update(Update.set(2));
    stock.reserve(2, Duration.ofMillis(300), OperationId.of("cart"));
    assertThat(other.counter("stock").tryTake(1).isApplied()).isFalse();

    await().until(() -> other.counter("stock").tryTake(2).isApplied());

    agree(0);
  }

  @Test
  void ownGiveBacksAreSeenAtOnce() {
    stock.update(Update.set(1));
    for (int i = 0; i < 50; i++) {
      assertThat(stock.tryTake(1).isApplied()).isTrue();
      assertThat(stock.tryTake(1).isApplied()).isFalse();
      assertThat(stock.add(1).isApplied()).isTrue();
    }
  }

  /** The ledger answers with the value of then. */
  @Test
  void aRestockThatIsRepeatedLaterTakesNothingBackFromTheGate() {
    GateOptions seldom = GateOptions.defaults().settle(Duration.ofMinutes(1));
    try (GateStore own = GateStore.over(gate, truth, seldom);
        GateStore another = GateStore.over(gate, truth, seldom);
        Pawl client = Pawl.over(own);
        Pawl fresh = Pawl.over(another)) {
      Counter shop = client.counter("stock");
      shop.add(1, OperationId.of("delivery"));
      shop.add(1_000);

      assertThat(shop.add(1, OperationId.of("delivery")).value()).isEqualTo(1);

      assertThat(Seam.value(gate, "stock")).isEqualTo(1_001);
      assertThat(fresh.counter("stock").tryTake(5).isApplied()).isTrue();
    }
  }

  @Test
  void soldOutIsRefusedWithoutAskingTheTruth() {
    GateStore patient =
        GateStore.over(toGate, toTruth, GateOptions.defaults().soldOutKept(Duration.ofSeconds(1)));
    Pawl client = Pawl.over(patient);
    Counter counter = client.counter("soldOut");
    counter.update(Update.set(1));
    counter.tryTake(1);
    counter.tryTake(1);
    int before = toTruth.calls(Verb.APPLY);

    for (int i = 0; i < 1_000; i++) {
      assertThat(counter.tryTake(1).isApplied()).isFalse();
    }

    assertThat(toTruth.calls(Verb.APPLY)).isLessThanOrEqualTo(before + 1);
    client.close();
    patient.close();
  }

  @Test
  void aFreshClientIsRefusedByTheGate() {
    stock.update(Update.set(1));
    stock.tryTake(1);
    agree(0);
    FaultyStore counted = new FaultyStore(truth);
    GateStore fresh = GateStore.over(gate, counted);
    Pawl client = Pawl.over(fresh);

    assertThat(client.counter("stock").tryTake(1).isApplied()).isFalse();

    assertThat(counted.calls(Verb.APPLY)).isZero();
    client.close();
    fresh.close();
  }

  @Test
  void p7_conservation_whatTheTruthSaidUnderACallersIdStands() {
    stock.update(Update.set(1));
    assertThat(stock.tryTake(1, OperationId.of("order")).isApplied()).isTrue();
    assertThat(stock.tryTake(1).isApplied()).isFalse();

    assertThat(stock.tryTake(1, OperationId.of("order")).isApplied()).isTrue();
    assertThat(other.counter("stock").tryTake(1, OperationId.of("order")).isApplied()).isTrue();
    assertThat(stock.tryTake(1, OperationId.of("late")).isApplied()).isFalse();
    stock.add(1);
    assertThat(stock.tryTake(1, OperationId.of("late")).isApplied()).isFalse();
  }

  @Test
  void p7_conservation_anIdThatThisClientSentIsTheTruthsEvenWhereCallersIdsAreRefused() {
    GateStore early = GateStore.over(toGate, toTruth, BRISK.refusesCallersIds(true));
    Pawl client = Pawl.over(early);
    Counter counter = client.counter("stock");
    counter.update(Update.set(1));
    toTruth.next(Verb.APPLY, Fault.LOSE_REPLY);
    assertThat(counter.tryTake(1, OperationId.of("order")).isApplied()).isTrue();
    assertThat(counter.tryTake(1, OperationId.of("late")).isApplied()).isFalse();
    int before = toTruth.calls(Verb.APPLY);

    for (int i = 0; i < 50; i++) {
      assertThat(counter.tryTake(1, OperationId.of("later" + i)).isApplied()).isFalse();
    }
    assertThat(toTruth.calls(Verb.APPLY)).isLessThan(before + 50);
    assertThat(counter.tryTake(1, OperationId.of("order")).isApplied()).isTrue();
    assertThat(counter.get()).isZero();
    client.close();
    early.close();
  }

  /** Sold out by an applied take whose reply is lost: its repetition must not hear of that. */
  @Test
  void p7_conservation_theRepetitionOfAnAppliedTakeIsTheTruthsEvenWhereCallersIdsAreRefused() {
    try (GateStore early = GateStore.over(toGate, toTruth, EARLY)) {
      Seam.set(truth, "stock", 1);
      CounterRequest take =
          CounterRequest.of(
              "stock",
              UUID.randomUUID().toString(),
              System.currentTimeMillis(),
              new Operation.Add(-1),
              false);
      toTruth.next(Verb.APPLY, Fault.LOSE_REPLY);
      assertThat(early.apply(take).toCompletableFuture()).isCompletedExceptionally();
      CounterRequest other =
          CounterRequest.of(
              "stock",
              UUID.randomUUID().toString(),
              System.currentTimeMillis(),
              new Operation.Add(-1),
              false);
      assertThat(Seam.answer(early.apply(other))).isInstanceOf(CounterAnswer.Refused.class);

      assertThat(Seam.answer(early.apply(take.repeated())))
          .isInstanceOf(CounterAnswer.Applied.class);
    }
  }

  /** One thread asks the gate, which has nothing; meanwhile another has sent the same take. */
  @Test
  void p7_conservation_anIdThatIsSentWhileItIsAskedForAtTheGateIsTheTruths() throws Exception {
    GateOptions patient = EARLY.gatePatience(Duration.ofSeconds(10));
    try (GateStore early = GateStore.over(toGate, toTruth, patient)) {
      Seam.set(gate, "stock", 0);
      Seam.set(truth, "stock", 1);
      CounterRequest take =
          CounterRequest.of(
              "stock", "order", System.currentTimeMillis(), new Operation.Add(-1), true);
      toGate.next(Verb.READ, Fault.HOLD_REPLY);
      CompletableFuture<CounterAnswer> first =
          CompletableFuture.supplyAsync(() -> Seam.answer(early.apply(take)));
      await().until(() -> toGate.calls(Verb.READ) == 1);
      Thread.currentThread().interrupt(); // who is interrupted waits for the gate no longer
      CompletionStage<CounterAnswer> second = early.apply(take);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(Seam.answer(second)).isInstanceOf(CounterAnswer.Applied.class);

      toGate.resume();

      assertThat(first.get(20, TimeUnit.SECONDS)).isInstanceOf(CounterAnswer.Applied.class);
    }
  }

  @Test
  void p7_conservation_anUnknownOutcomeIsKnownByRepeatingEvenWhereCallersIdsAreRefused() {
    try (GateStore early = GateStore.over(toGate, toTruth, EARLY);
        Pawl client = Pawl.over(early, IMPATIENT)) {
      Counter counter = client.counter("stock");
      counter.update(Update.set(1));
      toTruth.next(Verb.APPLY, Fault.LOSE_REPLY);
      OutcomeUnknownException lost =
          catchThrowableOfType(OutcomeUnknownException.class, () -> counter.tryTake(1));
      assertThat(counter.tryTake(1).isApplied()).isFalse();

      assertThat(counter.tryTake(1, lost.id()).isApplied()).isTrue();
      assertThat(counter.get()).isZero();
    }
  }

  /** The truth repeats under its id what it said when nothing was left. */
  @Test
  void anOldRefusalThatIsRepeatedRefusesNobodyElseWhereCallersIdsAreRefused() {
    Seam.set(truth, "stock", 0);
    CounterRequest order =
        CounterRequest.of(
            "stock", "order", System.currentTimeMillis(), new Operation.Add(-1), true);
    assertThat(Seam.answer(truth.apply(order))).isInstanceOf(CounterAnswer.Refused.class);
    Seam.set(truth, "stock", 1_000);
    Seam.set(gate, "stock", 1_000);
    try (GateStore early = GateStore.over(toGate, toTruth, EARLY);
        Pawl client = Pawl.over(early)) {
      assertThat(Seam.answer(early.apply(order))).isInstanceOf(CounterAnswer.Refused.class);

      assertThat(client.counter("stock").tryTake(1).isApplied()).isTrue();
      assertThat(client.counter("stock").tryTake(1, OperationId.of("new")).isApplied()).isTrue();
      assertThat(client.counter("stock").get()).isEqualTo(998);
    }
  }

  /** Takes and give-backs over parts that lose one message in five, on either side. */
  @Test
  void p7_conservation_holdsWhicheverMessageIsLost() throws Exception {
    stock.update(Update.set(300));
    AtomicLong sold = new AtomicLong();
    AtomicLong unknown = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Counter mine = t % 2 == 0 ? stock : other.counter("stock");
      threads.add(new Thread(() -> trade(mine, sold, unknown)));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    toGate.heal();
    toTruth.heal();

    long left = Seam.value(truth, "stock");
    assertThat(Seam.ledger(truth, "stock")).isEqualTo(left);
    assertThat(left).isNotNegative();
    assertThat(Math.abs(300 - sold.get() - left)).isLessThanOrEqualTo(unknown.get());
    stock.tryTake(1);
    await()
        .untilAsserted(
            () -> assertThat(Seam.value(gate, "stock")).isEqualTo(Seam.value(truth, "stock")));
  }

  private void trade(Counter mine, AtomicLong sold, AtomicLong unknown) {
    for (int i = 0; i < 500; i++) {
      if (ThreadLocalRandom.current().nextInt(5) == 0) {
        FaultyStore part = ThreadLocalRandom.current().nextBoolean() ? toGate : toTruth;
        Verb verb = ThreadLocalRandom.current().nextBoolean() ? Verb.APPLY : Verb.READ;
        Fault fault =
            ThreadLocalRandom.current().nextBoolean() ? Fault.LOSE_REQUEST : Fault.LOSE_REPLY;
        part.next(verb, fault);
      }
      try {
        if (i % 10 == 9) {
          sold.addAndGet(mine.add(1).isApplied() ? -1 : 0);
        } else {
          sold.addAndGet(mine.tryTake(1).isApplied() ? 1 : 0);
        }
      } catch (OutcomeUnknownException e) {
        unknown.incrementAndGet();
      }
    }
  }
}
