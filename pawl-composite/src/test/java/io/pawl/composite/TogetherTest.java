package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.GroupLease;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.io.PrintStream;
import java.lang.Thread.State;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several locks at once, through both parts. */
class TogetherTest {

  private static final GateOptions PATIENT =
      GateOptions.defaults().gatePatience(Duration.ofSeconds(10));

  @TempDir Path folder;

  /** Requests to one Redis leave when the thread has asked all of them, and the other's too. */
  @Test
  void aGateOfTheSameKindAsTheTruthIsNotLeftOut() throws Exception {
    try (RedisServer redis = RedisServer.start();
        LockStore gate = Servers.open(redis.url() + "/1");
        LockStore truth = Servers.open(redis.url() + "/2");
        GateStore store = GateStore.over(gate, truth, PATIENT);
        Pawl pawl = Pawl.over(store)) {
      for (int i = 0; i < 3; i++) {
        try (GroupLease group = pawl.lockAll("a", "b", "c").acquire()) {
          assertThat(group.isValid()).isTrue();
          assertThat(pawl.lock("b").tryAcquire()).isEmpty();
        }
      }
      assertThat(store.isGateAway()).isFalse();
      assertThat(pawl.lock("b").tryAcquire()).isPresent();
    }
  }

  @Test
  void theTruthServesOthersWhileAGroupAsksTheGate() throws Exception {
    FaultyStore toGate = new FaultyStore(new MemoryStore());
    try (LockStore truth = Servers.open("sqlite:" + folder.resolve("truth.db"));
        GateStore store = GateStore.over(toGate, truth, PATIENT);
        Pawl pawl = Pawl.over(store)) {
      toGate.next(Verb.ATTEMPT, Fault.HOLD_REQUEST, Fault.HOLD_REQUEST);
      CompletableFuture<?> group =
          pawl.lockAll("a", "b")
              .tryAcquireAsync(Duration.ofMinutes(10))
              .thenAccept(granted -> granted.orElseThrow().close());
      await().until(() -> toGate.calls(Verb.ATTEMPT) == 2);

      Claim other = Seam.claim("other");
      assertThat(Seam.answer(truth.attempt(other, rung -> {}))).isInstanceOf(Standing.Held.class);

      assertThat(group).isNotDone();
      assertThat(store.isGateAway()).isFalse();
      toGate.resume();
      group.get(20, TimeUnit.SECONDS);
      assertThat(Seam.answer(truth.renew(List.of(other)))).hasSize(1);
    } finally {
      toGate.close();
    }
  }

  @Test
  void whatIsAskedAfterAReleaseOfTheSameClientFindsTheGateFreeToo() throws Exception {
    FaultyStore truth = new FaultyStore(new MemoryStore());
    try (GateStore store = GateStore.over(new MemoryStore(), truth, PATIENT)) {
      Claim first = Seam.impatient("lock");
      assertThat(Seam.answer(store.attempt(first, rung -> {}))).isInstanceOf(Standing.Held.class);

      Claim second = Seam.impatient("lock");
      AtomicReference<CompletionStage<Standing>> asked = new AtomicReference<>();
      store.together(
          () -> {
            store.withdraw(first);
            asked.set(store.attempt(second, rung -> {}));
          });
      assertThat(Seam.answer(asked.get())).isInstanceOf(Standing.Held.class);

      truth.next(Verb.WITHDRAW, Fault.HOLD_REPLY); // it says so on another thread, and later
      store.withdraw(second);
      CompletableFuture<Standing> third = new CompletableFuture<>();
      Thread asking =
          new Thread(
              () -> third.complete(Seam.answer(store.attempt(Seam.impatient("lock"), rung -> {}))));
      asking.start();
      await()
          .until(
              () -> EnumSet.of(State.TIMED_WAITING, State.TERMINATED).contains(asking.getState()));
      truth.resume();
      assertThat(third.get(20, TimeUnit.SECONDS)).isInstanceOf(Standing.Held.class);
    } finally {
      truth.close();
    }
  }

  /** It gives its hold back when the tokens are used up, and asks for more in one go. */
  @Test
  void whoComesBackToAStickyHoldWithoutTokensIsNotInHisOwnWay() throws Exception {
    LockOptions sticky = LockOptions.defaults().sticky(Duration.ofSeconds(1));
    try (GateStore store = GateStore.over(new MemoryStore(), new MemoryStore(), PATIENT);
        Pawl pawl = Pawl.over(store)) {
      for (int i = 0; i < 3_000; i++) {
        pawl.lock("lock", sticky).tryAcquire().orElseThrow().close();
      }
    }
  }

  @Test
  void anErrorOfTheTruthReachesAllWhoWaitForTheAnswer() throws Exception {
    AtomicReference<Pawl> client = new AtomicReference<>();
    CompletableFuture<Optional<Lease>> other = new CompletableFuture<>();
    AtomicBoolean fails = new AtomicBoolean(true);
    LockStore truth = failing(fails, () -> standInLine(client.get(), other));
    try (GateStore store = GateStore.over(new MemoryStore(), truth, PATIENT);
        Pawl pawl = Pawl.over(store)) {
      client.set(pawl);
      assertThatThrownBy(() -> pawl.lockAll("a", "b").acquire()).isInstanceOf(StoreException.class);

      assertThatThrownBy(() -> other.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreException.class);
      fails.set(false);
      assertThat(pawl.lock("a").tryAcquire()).isPresent();
    }
  }

  /** Behind the group's request for the same lock. */
  private static void standInLine(Pawl pawl, CompletableFuture<Optional<Lease>> answer) {
    pawl.lock("a")
        .tryAcquireAsync(Duration.ofMinutes(10))
        .whenComplete(
            (lease, error) -> {
              if (error == null) {
                answer.complete(lease);
              } else {
                answer.completeExceptionally(error);
              }
            });
  }

  @Test
  void anErrorOfTheGateFailsNobody() throws Exception {
    AtomicBoolean fails = new AtomicBoolean(true);
    try (GateStore store = GateStore.over(failing(fails, () -> {}), new MemoryStore(), PATIENT);
        Pawl pawl = Pawl.over(store)) {
      assertThat(pawl.lock("a").tryAcquire()).isPresent();
      assertThat(pawl.lockAll("b", "c").tryAcquire()).isPresent();
      fails.set(false);
    }
  }

  /** What writes the log may be no more whole than what it is to write of. */
  private static final class Unwritable extends RuntimeException {

    private static final long serialVersionUID = 1;

    @Override
    public void printStackTrace(PrintStream log) {
      throw new NoClassDefFoundError("a logger that is not whole");
    }
  }

  @Test
  void anErrorOfTheLogReachesAllWhoWaitForTheAnswer() throws Exception {
    AtomicReference<Pawl> client = new AtomicReference<>();
    CompletableFuture<Optional<Lease>> other = new CompletableFuture<>();
    AtomicBoolean fails = new AtomicBoolean(true);
    Runnable meanwhile =
        () -> {
          standInLine(client.get(), other);
          throw new Unwritable();
        };
    try (GateStore store = GateStore.over(failing(fails, meanwhile), new MemoryStore(), PATIENT);
        Pawl pawl = Pawl.over(store)) {
      client.set(pawl);
      assertThatThrownBy(() -> pawl.lockAll("a", "b").acquire()).isInstanceOf(StoreException.class);

      assertThatThrownBy(() -> other.get(20, TimeUnit.SECONDS))
          .hasCauseInstanceOf(StoreException.class);
      fails.set(false);
      assertThat(pawl.lock("a").tryAcquire()).isPresent();
      await().until(() -> !store.isGateAway());
    }
  }

  /** A store whose attempts throw an error for as long as that is so, after {@code meanwhile}. */
  private static LockStore failing(AtomicBoolean fails, Runnable meanwhile) {
    MemoryStore store = new MemoryStore();
    InvocationHandler calls =
        (proxy, method, arguments) -> {
          if (fails.get() && method.getName().equals("attempt")) {
            meanwhile.run();
            throw new NoClassDefFoundError("a driver that is not whole");
          }
          return method.isDefault() && method.getName().equals("together")
              ? InvocationHandler.invokeDefault(proxy, method, arguments)
              : method.invoke(store, arguments);
        };
    return (LockStore)
        Proxy.newProxyInstance(
            LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, calls);
  }
}
