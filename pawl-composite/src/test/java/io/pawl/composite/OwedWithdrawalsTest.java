package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.memory.MemoryStore;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Claims that ended while a gate on Redis did not hear of it. */
class OwedWithdrawalsTest {

  private static final GateOptions BRISK =
      GateOptions.defaults().gatePatience(Duration.ofMillis(300)).gatePause(Duration.ofMillis(100));

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final RedisServer redis = RedisServer.start();
  private final LockStore gate = Servers.open(redis.url() + "?timeout=500ms");
  private final Threads threads = new Threads();
  private final AtomicLong clock = new AtomicLong();

  @AfterEach
  void close() {
    threads.close();
    gate.close();
    redis.close();
  }

  private Gate over(LockStore store) {
    return new Gate("gate", store, () -> store, BRISK, threads, () -> {});
  }

  /** Each debt would be paid again and again, and keep the gate and the workers from all others. */
  @Test
  void p6_nothingIsOwedToAGateThatHasRefusedTheKey() {
    Gate refusing = over(gate);
    OwedWithdrawals owed = new OwedWithdrawals(refusing, threads, clock::get);
    redis.call("RPUSH", "pawl:lock:spoilt", "data");

    owed.withdraw(Seam.claim("spoilt"));

    assertThat(refusing.isAway()).isFalse();
    assertThat(owed.areSome()).isFalse();
  }

  /** Its client notes whoever waits, and would do so for ever: it asks for all of them anew. */
  @Test
  void p8_aGateThatWasAwayForLongIsToldOfClaimsThatHaveRunOutThereToo() {
    FaultyStore toGate = new FaultyStore(gate);
    Gate left = over(toGate);
    OwedWithdrawals owed = new OwedWithdrawals(left, threads, clock::get);
    toGate.cut();
    left.ask(store -> store.attempt(Seam.claim("lock"), rung -> {}));
    owed.withdraw(Seam.claim("lock"));
    assertThat(owed.areSome()).isTrue();

    clock.addAndGet(TimeUnit.MINUTES.toNanos(2));
    toGate.heal();
    await().until(() -> !left.isAway());
    int told = toGate.calls(Verb.WITHDRAW);
    owed.pay();

    assertThat(toGate.calls(Verb.WITHDRAW)).isEqualTo(told + 1);
    assertThat(owed.areSome()).isFalse();
    assertThat(redis.call("EXISTS", "pawl:lock:lock")).isEqualTo(0L);
  }

  /** A network that cuts off both for longer than a lease: the truth is to be told first. */
  @Test
  void p8_aClaimThatRanOutWhileNeitherCouldBeToldLeavesTheGateWhenItIsForgotten() {
    FaultyStore toGate = new FaultyStore(gate);
    FaultyStore toTruth = new FaultyStore(new MemoryStore());
    Gate front = over(toGate);
    GateLocks locks = new GateLocks(front, toTruth, threads, clock::get);
    Claim waiter = Seam.claim("lock");
    Seam.answer(gate.attempt(Seam.claim("lock"), rung -> {}));
    assertThat(Seam.answer(locks.attempt(waiter, rung -> {}))).isInstanceOf(Standing.Waiting.class);

    toGate.cut();
    toTruth.cut();
    assertThat(locks.renew(List.of(waiter))).failsWithin(PATIENCE);
    assertThat(locks.withdraw(waiter)).failsWithin(PATIENCE);
    toGate.heal();
    toTruth.heal();
    await().until(() -> !front.isAway());
    clock.addAndGet(TimeUnit.MINUTES.toNanos(2));
    locks.sweep();

    assertThat(Seam.answer(((Inspectable) gate).show("lock")).orElseThrow().waiters()).isEmpty();
  }

  /** A row that somebody keeps locked there, or a Cluster's node that is gone. */
  @Test
  void p6_aClaimThatRanOutAtTheGateWhichHearsNothingOfItLeavesTheGateOutOnceMoreAtMost() {
    AtomicInteger told = new AtomicInteger();
    LockStore stuck =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("withdraw")
                      && ((Claim) arguments[0]).lock().equals("stuck")) {
                    told.incrementAndGet();
                    return new CompletableFuture<>();
                  }
                  return method.invoke(gate, arguments);
                });
    Gate left = over(stuck);
    OwedWithdrawals owed = new OwedWithdrawals(left, threads, clock::get);
    owed.withdraw(Seam.claim("stuck"));
    assertThat(left.isAway()).isTrue();

    clock.addAndGet(TimeUnit.MINUTES.toNanos(2));
    for (int back = 0; back < 3; back++) {
      await().until(() -> !left.isAway());
      owed.pay();
    }

    assertThat(told).as("when it ended, and when the gate was back").hasValue(2);
    assertThat(owed.areSome()).isFalse();
    assertThat(left.isAway()).isFalse();
  }
}
