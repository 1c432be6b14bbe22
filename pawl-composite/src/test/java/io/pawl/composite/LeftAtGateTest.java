package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.memory.MemoryStore;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A claim that was withdrawn while it was on its way to the gate keeps nobody out. */
@Timeout(60)
class LeftAtGateTest {

  private final MemoryStore gate = new MemoryStore();
  private final FaultyStore toGate = new FaultyStore(gate);
  private final FaultyStore toTruth = new FaultyStore(new MemoryStore());
  private final GateStore store = GateStore.over(toGate, toTruth, Servers.PATIENT);
  private final Claim holder = Seam.claim("lock");
  private final Claim waiter = Seam.claim("lock");

  @BeforeEach
  void someoneHolds() {
    assertThat(standing(holder)).isInstanceOf(Standing.Held.class);
  }

  @AfterEach
  void close() {
    store.close();
    toGate.close();
    toTruth.close();
  }

  private Standing standing(Claim claim) {
    return Seam.answer(store.attempt(claim, rung -> {}));
  }

  private void assertNobodyIsInTheWay() {
    Seam.answer(store.withdraw(holder));
    assertThat(standing(Seam.claim("lock"))).isInstanceOf(Standing.Held.class);
  }

  @Test
  void beforeTheGateWasAsked() {
    store.together(
        () -> {
          CompletionStage<Standing> asked = store.attempt(waiter, rung -> {});
          Seam.answer(store.withdraw(waiter));
          assertThat(asked.toCompletableFuture()).isNotDone();
        });

    assertNobodyIsInTheWay();
  }

  /** It is renewed there for as long as the truth's hold is, as a writer's. */
  @Test
  void whenTheGateDidNotHearOfItsDowngrade() {
    toGate.next(Verb.ATTEMPT, Fault.LOSE_REQUEST);
    assertThat(standing(holder.as(Mode.SHARED))).isInstanceOf(Standing.Held.class);

    await()
        .until(
            () -> {
              Seam.answer(store.renew(List.of(holder)));
              return Seam.answer(gate.show("lock")).filter(LeftAtGateTest::isHeld).isEmpty();
            });
    assertThat(standing(Seam.claim("lock").as(Mode.SHARED))).isInstanceOf(Standing.Held.class);
  }

  /** Its answer comes after that of the withdrawal, which the truth served after it. */
  @Test
  void whenItsDowngradeIsAnsweredLate() {
    toTruth.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    CompletionStage<Standing> downgrade = store.attempt(holder.as(Mode.SHARED), rung -> {});

    Seam.answer(store.withdraw(holder));
    toTruth.resume();
    Seam.answer(downgrade);

    assertThat(standing(Seam.impatient("lock"))).isInstanceOf(Standing.Held.class);
  }

  private static boolean isHeld(Inspectable.LockView lock) {
    return !lock.holders().isEmpty();
  }

  @Test
  void whileARenewalAsksTheGateAnew() {
    assertThat(standing(waiter)).isInstanceOf(Standing.Waiting.class);
    Seam.answer(gate.withdraw(waiter)); // as if it had forgotten
    int asked = toGate.calls(Verb.ATTEMPT);
    toGate.next(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    CompletionStage<Map<?, Standing>> renewal =
        store.renew(List.of(waiter)).thenApply(found -> Map.copyOf(found));
    await().until(() -> toGate.calls(Verb.ATTEMPT) > asked);

    Seam.answer(store.withdraw(waiter));
    toGate.resume();
    Seam.answer(renewal);

    assertNobodyIsInTheWay();
  }
}
