package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.memory.MemoryStore;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One comparison of gate and truth at a time, and what others do in the middle of it. */
class MirrorTest {

  private final MemoryStore gateStore = new MemoryStore();
  private final MemoryStore truth = new MemoryStore();
  private final FaultyStore toGate = new FaultyStore(gateStore);
  private final FaultyStore toTruth = new FaultyStore(truth);
  private final Threads threads = new Threads();
  private final GateOptions options = GateOptions.defaults();
  private final Gate gate = new Gate("gate", toGate, () -> toGate, options, threads, () -> {});
  private final Mirror mirror =
      new Mirror(gate, toTruth, options, threads, System::nanoTime, new Random());
  private final Stock stock = new Stock("stock");

  @BeforeEach
  void open() {
    Seam.set(gateStore, "stock", 1);
    Seam.set(truth, "stock", 0);
  }

  @AfterEach
  void close() {
    toGate.close();
    toTruth.close();
    threads.close();
  }

  /** Someone restocks, and tells the gate, while the reply to either question is on its way. */
  @ParameterizedTest
  @CsvSource({"false,1", "false,5", "true,1", "true,5"})
  void aRestockInTheMiddleIsNotTakenFromTheGate(boolean truthIsSlow, long restocked)
      throws Exception {
    FaultyStore slow = truthIsSlow ? toTruth : toGate;
    slow.next(Verb.READ, Fault.HOLD_REPLY);
    CompletableFuture<Boolean> settled = new CompletableFuture<>();
    new Thread(() -> settled.complete(mirror.settle(stock))).start();
    await().until(() -> slow.calls(Verb.READ) == 1);

    Seam.set(truth, "stock", restocked);
    Seam.set(gateStore, "stock", restocked);
    slow.resume();

    settled.get(20, TimeUnit.SECONDS);
    assertThat(Seam.value(gateStore, "stock")).isEqualTo(restocked);
  }

  /** As after a client of the gate alone has taken a lock under the counter's name. */
  @ParameterizedTest
  @ValueSource(longs = {0, -5})
  void aCounterThatTheGateKnowsAsALockIsNotComparedForEver(long floor) {
    Seam.answer(gateStore.attempt(Seam.claim("lock"), rung -> {}));
    try (Pawl direct = Pawl.over(truth)) {
      direct.counter("lock").update(Update.bounds(floor, 10));
    }
    GateOptions brisk = options.settle(Duration.ofMillis(10));
    Stock there = new Stock("lock");

    new Mirror(gate, toTruth, brisk, threads, System::nanoTime, new Random()).watch(there);

    await().until(() -> there.isIdle(Long.MAX_VALUE, 0));
    assertThat(gate.isAway()).isFalse();
  }

  /** An account without the rights, or a row that cannot be read. */
  @Test
  void aCounterThatTheTruthRefusesToTellOfIsNotComparedForEver() {
    toTruth.on(Verb.READ, Fault.DENY);
    GateOptions brisk = options.settle(Duration.ofMillis(10));

    new Mirror(gate, toTruth, brisk, threads, System::nanoTime, new Random()).watch(stock);

    await().until(() -> stock.isIdle(Long.MAX_VALUE, 0));
    assertThat(toTruth.calls(Verb.READ)).isEqualTo(2);
  }

  /** Whose name a customer has typed, say: the truth refuses the take, and keeps nothing of it. */
  @Test
  void aCounterThatNobodyHasEverChangedLeavesNothingAtTheGate() {
    Stock unknown = new Stock("unknown");

    assertThat(mirror.settle(unknown)).isFalse();

    assertThat(Seam.answer(gateStore.read("unknown"))).isEmpty();
  }

  /** The gate's ledger of its copy is nobody's. */
  @Test
  void theGateRemembersNoOldChangesOfItsCopy() {
    for (int i = 0; i < 500; i++) {
      mirror.publish(stock, i);
    }
    Seam.set(truth, "stock", 499);
    mirror.settle(stock);
    assertThat(Seam.value(gateStore, "stock")).isEqualTo(499);
    assertThat(Seam.answer(gateStore.history("stock", 1_000))).hasSizeLessThan(3);
  }

  /** Each prunes what the other has written, and neither's later writes are too old for that. */
  @Test
  void clientsThatForgetForEachOtherStillWrite() {
    Stock other = new Stock("stock");
    for (int i = 2; i < 20; i++) {
      Seam.set(truth, "stock", i);
      Stock writer = i % 3 == 0 ? other : stock;
      mirror.publish(writer, 100 + i);
      mirror.settle(i % 2 == 0 ? stock : other);
      assertThat(Seam.value(gateStore, "stock")).isEqualTo(i);
    }
    try (Pawl user = Pawl.over(GateStore.over(gateStore, truth))) {
      assertThat(user.counter("stock").tryTake(19).isApplied()).isTrue();
    }
  }
}
