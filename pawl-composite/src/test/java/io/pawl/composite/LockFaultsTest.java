package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.FaultyStore;
import io.pawl.tck.rig.FaultyStore.Fault;
import io.pawl.tck.rig.FaultyStore.Verb;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A gate that comes and goes, for all clients or for some. */
class LockFaultsTest {

  private static final GateOptions BRISK =
      GateOptions.defaults().gatePause(Duration.ofMillis(30)).gatePatience(Duration.ofMillis(200));

  private final MemoryStore gate = new MemoryStore();
  private final MemoryStore truth = new MemoryStore();
  private final List<AutoCloseable> opened = new ArrayList<>();

  /** A client with a way of its own to the gate. */
  private final class Client {
    private final FaultyStore toGate = keep(new FaultyStore(gate));
    private final FaultyStore toTruth = keep(new FaultyStore(truth));
    private final GateStore store = keep(GateStore.over(toGate, toTruth, BRISK));
    private final Pawl pawl = keep(Pawl.over(store));

    Lease acquire(String lock) throws InterruptedException {
      LockOptions strict = LockOptions.defaults().strictOrder();
      return pawl.lock(lock, strict).tryAcquire(Duration.ofSeconds(20)).orElseThrow();
    }
  }

  private <T extends AutoCloseable> T keep(T closeable) {
    opened.add(0, closeable);
    return closeable;
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void theTruthSeesOneContenderHoweverManyWait() throws Exception {
    Client client = new Client();
    Lease lease = client.acquire("lock");
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    LockOptions strict = LockOptions.defaults().strictOrder();
    for (int i = 0; i < 20; i++) {
      waiting.add(client.pawl.lock("lock", strict).tryAcquireAsync(Duration.ofMinutes(1)));
    }
    await().until(() -> waiters() == 20);

    assertThat(client.toTruth.calls(Verb.ATTEMPT)).isEqualTo(1);
    GateStore looking = keep(GateStore.over(gate, truth));
    assertThat(Seam.answer(looking.show("lock")).orElseThrow().waiters()).hasSize(20);
    waiting.forEach(each -> each.cancel(false));
    await().until(() -> waiters() == 0);
    assertThat(client.toTruth.calls(Verb.ATTEMPT)).isEqualTo(1);
    lease.close();
    assertThat(client.toTruth.calls(Verb.WITHDRAW)).isEqualTo(1);
  }

  @Test
  void thoseWhoStandDirectlyBehindAtTheGateShareOneHoldOfTheTruthInTheirOrder() throws Exception {
    Client holder = new Client();
    Client client = new Client();
    Lease lease = holder.acquire("lock");
    List<Long> tokens = Collections.synchronizedList(new ArrayList<>());
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    LockOptions strict = LockOptions.defaults().strictOrder();
    for (int i = 0; i < 20; i++) {
      int number = i;
      waiting.add(
          client
              .pawl
              .lock("lock", strict)
              .tryAcquireAsync(Duration.ofMinutes(1))
              .thenAccept(
                  next -> {
                    order.add(number);
                    tokens.add(next.orElseThrow().token());
                    next.orElseThrow().close();
                  }));
      await().until(() -> waiters() == number + 1);
    }

    lease.close();

    CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
    assertThat(order).isSorted();
    assertThat(tokens).isSorted().doesNotHaveDuplicates();
    assertThat(tokens.get(0)).isGreaterThan(lease.token());
    assertThat(client.toTruth.calls(Verb.ATTEMPT)).isLessThan(10);
    await().until(() -> waiters() == 0);
  }

  private static <T> T proxied(Class<T> type, InvocationHandler handler) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(), new Class<?>[] {type, Inspectable.class}, handler));
  }

  @Test
  void aListThatTakesTheGateLongLeavesTheGateWhereItIs() throws Exception {
    Client other = new Client();
    LockStore slow =
        proxied(
            LockStore.class,
            (proxy, method, arguments) ->
                method.getName().equals("list")
                    ? new CompletableFuture<>()
                    : method.invoke(gate, arguments));
    GateStore store = keep(GateStore.over(slow, truth, BRISK));
    try (Lease held = other.acquire("lock")) {
      assertThat(Seam.answer(store.list(10))).extracting(LockView::name).containsExactly("lock");

      assertThat(held.isValid()).isTrue();
      assertThat(store.isGateAway()).isFalse();
    }
  }

  /** Its own grant ran out at the gate; the bell of it comes late, just before the answer. */
  @Test
  void aRenewalTellsNoClaimGoneThatIsOnItsWayToTheTruth() {
    List<Bell> bells = new CopyOnWriteArrayList<>();
    LockStore deaf =
        proxied(
            LockStore.class,
            (proxy, method, arguments) -> {
              if (method.getName().equals("attempt")) {
                bells.add((Bell) arguments[1]);
                arguments[1] = (Bell) standing -> {};
              }
              return method.invoke(gate, arguments);
            });
    FaultyStore toGate = keep(new FaultyStore(deaf));
    GateStore store = keep(GateStore.over(toGate, truth, Servers.PATIENT));
    GateStore other = keep(GateStore.over(gate, truth, Servers.PATIENT));
    Claim holder = Seam.claim("lock");
    Claim waiter = Seam.claim("lock", Duration.ofSeconds(4));
    Claim another = Seam.impatient("lock");
    Seam.answer(other.attempt(holder, rung -> {}));
    assertThat(Seam.answer(store.attempt(waiter, rung -> {}))).isInstanceOf(Standing.Waiting.class);
    Seam.answer(other.withdraw(holder));
    await().until(() -> Seam.answer(gate.attempt(another, rung -> {})) instanceof Standing.Held);
    Seam.answer(gate.withdraw(another));

    toGate.next(Verb.RENEW, Fault.HOLD_REPLY);
    CompletionStage<Map<ClaimId, Standing>> renewal = store.renew(List.of(waiter));
    await().until(() -> toGate.calls(Verb.RENEW) > 0);
    bells.get(0).ring(new Standing.Held(1, 1));
    await()
        .until(
            () ->
                Seam.answer(truth.show("lock"))
                    .filter(lock -> !lock.holders().isEmpty())
                    .isPresent());
    toGate.resume();

    assertThat(Seam.answer(renewal)).doesNotContainEntry(waiter.id(), Standing.GONE);
  }

  private int waiters() {
    return Seam.answer(gate.show("lock")).map(view -> view.waiters().size()).orElse(0);
  }

  @Test
  void withTheGateAwayTheTruthServesItsOwnLine() throws Exception {
    Client one = new Client();
    Client two = new Client();
    one.toGate.cut();
    two.toGate.cut();

    Lease first = one.acquire("lock");
    CompletableFuture<Optional<Lease>> next =
        two.pawl.lock("lock").tryAcquireAsync(Duration.ofMinutes(1));
    await().until(() -> Seam.answer(truth.show("lock")).orElseThrow().waiters().size() == 1);
    first.close();

    Lease second = next.get(20, TimeUnit.SECONDS).orElseThrow();
    assertThat(second.token()).isGreaterThan(first.token());
    second.close();
  }

  @Test
  void aGateThatFailedIsLeftOutAndTriedInTheBackground() throws Exception {
    Client client = new Client();
    client.toGate.cut();
    client.acquire("lock").close();
    assertThat(client.store.isGateAway()).isTrue();
    int asked = client.toGate.calls(Verb.ATTEMPT) + client.toGate.calls(Verb.WITHDRAW);

    for (int i = 0; i < 10; i++) {
      client.acquire("lock").close();
    }

    assertThat(client.toGate.calls(Verb.ATTEMPT) + client.toGate.calls(Verb.WITHDRAW))
        .isEqualTo(asked);
    client.toGate.heal();
    await().until(() -> !client.store.isGateAway());
    client.acquire("lock").close();
    assertThat(client.toGate.calls(Verb.ATTEMPT)).isGreaterThan(asked - 1);
  }

  /** As etcd and ZooKeeper, of a claim that the client has not made. */
  @Test
  void aGateThatKnowsWithoutItsServerWhatItHasNotIsLeftOutWhileTheServerIsAway() {
    AtomicBoolean away = new AtomicBoolean(true);
    LockStore remote =
        proxied(
            LockStore.class,
            (proxy, method, arguments) ->
                away.get() && List.of("attempt", "show").contains(method.getName())
                    ? CompletableFuture.failedFuture(new StoreUnavailableException("away"))
                    : method.invoke(gate, arguments));
    FaultyStore toGate = keep(new FaultyStore(remote));
    GateStore store = keep(GateStore.over(toGate, truth, BRISK));
    Seam.answer(store.attempt(Seam.claim("lock"), rung -> {}));

    await().until(() -> toGate.calls(Verb.RENEW) > 2);
    away.set(false);
    await().until(() -> !store.isGateAway());
  }

  /** The one who waits at the gate when it goes away moves on to the truth. */
  @Test
  void whoeverWaitsAtAGateThatGoesAwayIsServedByTheTruth() throws Exception {
    Client holder = new Client();
    Client waiter = new Client();
    Lease lease = holder.acquire("lock");
    CompletableFuture<Optional<Lease>> waiting =
        waiter.pawl.lock("lock").tryAcquireAsync(Duration.ofMinutes(1));
    await().until(() -> waiters() == 1);
    holder.toGate.cut();
    waiter.toGate.cut().loseBells();

    lease.close();

    assertThat(waiting.get(20, TimeUnit.SECONDS).orElseThrow().token())
        .isGreaterThan(lease.token());
  }

  @Test
  void aReleaseThatTheGateMissedIsToldToItWhenItIsBack() throws Exception {
    Client client = new Client();
    Client other = new Client();
    Lease lease = client.acquire("lock");
    client.toGate.on(Verb.WITHDRAW, Fault.LOSE_REQUEST).on(Verb.RENEW, Fault.LOSE_REQUEST);
    lease.close();
    assertThat(other.pawl.lock("lock").tryAcquire()).as("the gate still thinks so").isEmpty();

    client.toGate.heal();

    await().until(() -> other.pawl.lock("lock").tryAcquire().isPresent());
  }

  @Test
  void p1_oneHolder_aLateAttemptThroughEitherPartIsRefused() {
    Client client = new Client();
    for (FaultyStore part : List.of(client.toGate, client.toTruth)) {
      Claim claim = Seam.claim("late");
      int tried = part.calls(Verb.ATTEMPT);
      part.next(Verb.ATTEMPT, Fault.HOLD_REQUEST);
      client.toGate.on(Verb.RENEW, Fault.LOSE_REQUEST);
      Thread asking = new Thread(() -> client.store.attempt(claim, rung -> {}));
      asking.start();
      int calls = tried + 1;
      await().until(() -> part.calls(Verb.ATTEMPT) >= calls);
      await().until(() -> part == client.toTruth || client.store.isGateAway());
      Seam.answer(client.store.withdraw(claim.asUnsettled()));

      client.toGate.heal();
      part.resume();

      LockView view = Seam.answer(truth.show("late")).orElse(null);
      assertThat(view == null || view.holders().isEmpty()).isTrue();
      await().until(() -> !client.store.isGateAway());
      await()
          .until(
              () -> Seam.answer(gate.show("late")).map(at -> at.holders().isEmpty()).orElse(true));
    }
  }

  /** Without bells each hand-off would wait for the next time that the client asks, 2 s. */
  @Test
  void aTruthThatAnswersNothingAboutCountersHoldsUpNoBell() throws Exception {
    Client client = new Client();
    for (int i = 0; i < 20; i++) {
      client.pawl.counter("counter" + i).update(Update.set(1));
    }
    client.toTruth.on(Verb.READ, Fault.HOLD_REQUEST);
    int before = client.toTruth.calls(Verb.READ);
    for (int i = 0; i < 20; i++) {
      client.pawl.counter("counter" + i).tryTake(1);
    }
    await().until(() -> client.toTruth.calls(Verb.READ) >= before + Threads.BACKGROUND);
    Lease lease = client.acquire("lock");
    List<CompletableFuture<?>> waiting = new ArrayList<>();
    LockOptions strict = LockOptions.defaults().strictOrder();
    for (int i = 0; i < 20; i++) {
      waiting.add(
          client
              .pawl
              .lock("lock", strict)
              .tryAcquireAsync(Duration.ofMinutes(1))
              .thenAccept(next -> next.orElseThrow().close()));
    }
    await().until(() -> waiters() == 20);

    lease.close();

    CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
  }

  /** By the time of the reply the hold has run out, and another has it. */
  @Test
  void p1_oneHolder_aGrantOfWhichTheReplyIsLateIsNotHandedOut() throws Exception {
    FaultyStore requests = keep(new FaultyStore(truth));
    FaultyStore replies = keep(new FaultyStore(requests));
    Pawl pawl = keep(Pawl.over(keep(GateStore.over(gate, replies, BRISK))));
    LockOptions strict = LockOptions.defaults().strictOrder();
    Lease first = new Client().acquire("lock");
    CompletableFuture<Optional<Lease>> late =
        pawl.lock("lock", strict.lease(Duration.ofMillis(300)))
            .tryAcquireAsync(Duration.ofMinutes(1));
    await().until(() -> waiters() == 1);
    replies.next(Verb.ATTEMPT, Fault.HOLD_REPLY);
    requests.next(Verb.ATTEMPT, Fault.NONE, Fault.HOLD_REQUEST);
    requests.next(Verb.RENEW, Fault.HOLD_REQUEST);

    first.close();
    await().until(() -> requests.answers(Verb.ATTEMPT) == 1);
    Lease second =
        keep(Pawl.over(truth))
            .lock("lock", strict)
            .tryAcquire(Duration.ofSeconds(20))
            .orElseThrow();
    requests.heal();
    requests.resume();
    await().until(() -> !Seam.answer(truth.show("lock")).orElseThrow().waiters().isEmpty());
    awaitRenewals(requests);
    replies.resume();
    awaitRenewals(requests);
    assertThat(late).isNotDone();
    second.close();

    assertThat(late.get(20, TimeUnit.SECONDS).orElseThrow().token()).isGreaterThan(second.token());
  }

  /** The renewal overtakes the attempt on its way there, and is answered after it. */
  @Test
  void aClaimThatIsGrantedWhileItIsRenewedIsNotTakenForGone() {
    Client client = new Client();
    Claim first = Seam.claim("lock");
    Claim second = Seam.claim("lock");
    Seam.answer(client.store.attempt(first, rung -> {}));
    assertThat(Seam.answer(client.store.attempt(second, rung -> {})))
        .isInstanceOf(Standing.Waiting.class);
    client.toTruth.next(Verb.ATTEMPT, Fault.HOLD_REQUEST).next(Verb.RENEW, Fault.HOLD_REPLY);
    Seam.answer(client.store.withdraw(first));
    await().until(() -> client.toTruth.calls(Verb.ATTEMPT) == 2);
    CompletionStage<Map<ClaimId, Standing>> renewal = client.store.renew(List.of(second));
    await().until(() -> client.toTruth.calls(Verb.RENEW) == 1);

    client.toTruth.resume();

    assertThat(Seam.answer(renewal).get(second.id())).isInstanceOf(Standing.Held.class);
    assertThat(Seam.answer(client.store.renew(List.of(second))).get(second.id()))
        .isInstanceOf(Standing.Held.class);
  }

  private GateStore steadfast(FaultyStore toGate, LockStore toTruth) {
    GateOptions patient = GateOptions.defaults().gatePatience(Duration.ofSeconds(10));
    return keep(GateStore.over(toGate, toTruth, patient));
  }

  @Test
  void aHeldClaimIsRenewedWhileTheGateStandsStill() {
    FaultyStore toGate = keep(new FaultyStore(gate));
    GateStore store = steadfast(toGate, truth);
    Claim held = Seam.claim("held");
    Seam.answer(store.attempt(held, rung -> {}));
    toGate.on(Verb.RENEW, Fault.HOLD_REQUEST);

    assertThat(Seam.answer(store.renew(List.of(held))).get(held.id()))
        .isInstanceOf(Standing.Held.class);

    await().until(() -> toGate.calls(Verb.RENEW) == 1);
    assertThat(store.isGateAway()).isFalse();
  }

  /** The other's place at the gate has come up, and the truth does not answer its attempt. */
  @Test
  void aHeldClaimIsRenewedWhileTheAttemptOfAnotherIsUnderWay() {
    FaultyStore toTruth = keep(new FaultyStore(truth));
    GateStore store = steadfast(keep(new FaultyStore(gate)), toTruth);
    Claim held = Seam.claim("held");
    Claim first = Seam.claim("busy");
    Claim next = Seam.claim("busy");
    for (Claim claim : List.of(held, first, next)) {
      Seam.answer(store.attempt(claim, rung -> {}));
    }
    toTruth.on(Verb.ATTEMPT, Fault.HOLD_REQUEST);
    Seam.answer(gate.withdraw(first));
    await().until(() -> toTruth.calls(Verb.ATTEMPT) == 3);

    assertThat(store.renewGroup(held)).isNotEqualTo(store.renewGroup(next));
    assertThat(Seam.answer(store.renew(List.of(held, next))))
        .hasEntrySatisfying(
            held.id(), standing -> assertThat(standing).isInstanceOf(Standing.Held.class));
    assertThat(toTruth.answers(Verb.ATTEMPT)).isEqualTo(2);
  }

  /** Granted by a bell after it was put into one call with a claim that waits at the gate. */
  @Test
  void aHeldClaimsRenewalIsAnsweredInItsOwnLeaseThoughItSharesACallWithALongerOne() {
    FaultyStore toGate = keep(new FaultyStore(gate));
    GateStore store = steadfast(toGate, truth);
    Claim held = Seam.claim("held", Duration.ofSeconds(1));
    Claim first = Seam.claim("busy");
    Claim next = Seam.claim("busy");
    for (Claim claim : List.of(held, first, next)) {
      Seam.answer(store.attempt(claim, rung -> {}));
    }
    toGate.on(Verb.RENEW, Fault.HOLD_REQUEST);
    List<String> answered = Collections.synchronizedList(new ArrayList<>());

    CompletionStage<?> alone =
        store.renew(List.of(next)).thenRun(() -> answered.add("what waits, asked first"));
    CompletionStage<?> shared =
        store.renew(List.of(held, next)).thenRun(() -> answered.add("what is held"));
    Seam.answer(alone);
    Seam.answer(shared);

    assertThat(answered).containsExactly("what is held", "what waits, asked first");
    assertThat(store.isGateAway()).isFalse();
  }

  /** Its next renewal, which may be that of a hold by then, waits for the answer to this one. */
  @Test
  void aWaitingClaimsRenewalIsAnsweredThoughTheGateStandsStill() {
    FaultyStore toGate = keep(new FaultyStore(gate));
    GateStore store = steadfast(toGate, truth);
    Claim first = Seam.claim("busy");
    Claim next = Seam.claim("busy");
    Seam.answer(store.attempt(first, rung -> {}));
    Seam.answer(store.attempt(next, rung -> {}));
    toGate.on(Verb.RENEW, Fault.HOLD_REQUEST);

    assertThat(Seam.answer(store.renew(List.of(next))).get(next.id()))
        .isInstanceOf(Standing.Waiting.class);

    assertThat(store.isGateAway()).isFalse();
  }

  @Test
  void aShortestHoldIsKeptThoughTheCapacityChangesWhileItsClaimWaitsAtTheGate() throws Exception {
    Pawl pawl = keep(Pawl.over(keep(GateStore.over(gate, truth, BRISK))));
    Client waiter = new Client();
    LockOptions anHour = LockOptions.defaults().minHold(Duration.ofHours(1));
    Lease first = pawl.semaphore("permits", 1).acquire(1);
    CompletableFuture<Lease> waiting = waiter.pawl.semaphore("permits", 1, anHour).acquireAsync(1);
    await().until(() -> Seam.answer(gate.show("permits")).orElseThrow().waiters().size() == 1);

    pawl.semaphore("permits", 1).changeCapacity(2);
    waiting.get(20, TimeUnit.SECONDS).close();

    assertThat(pawl.semaphore("permits", 2).availablePermits()).isZero();
    first.close();
  }

  /** As above, with a truth that is busy with somebody who does not see the gate. */
  @Test
  void aWaiterKeepsItsPlaceThroughAChangeOfCapacityThoughTheTruthIsBusy() {
    Client client = new Client();
    Claim holder = permits(2, 2);
    Claim waiter = permits(1, 2);
    Claim direct = permits(1, 1);
    GateStore looking = keep(GateStore.over(gate, truth));
    Seam.answer(client.store.attempt(holder, rung -> {}));
    BlockingQueue<Standing> rung = new LinkedBlockingQueue<>();
    Seam.answer(client.store.attempt(waiter, rung::add));
    assertThat(Seam.answer(looking.setKind("permits", new Kind(1)))).isTrue();
    assertThat(Seam.answer(truth.attempt(direct, bell -> {}))).isInstanceOf(Standing.Waiting.class);

    Seam.answer(client.store.withdraw(holder));

    await().until(() -> client.toTruth.calls(Verb.ATTEMPT) == 3);
    assertThat(Seam.answer(client.store.renew(List.of(waiter))).get(waiter.id()))
        .isInstanceOf(Standing.Waiting.class);
    Seam.answer(truth.withdraw(direct));
    await().until(() -> !rung.isEmpty());
    assertThat(rung).last().isInstanceOf(Standing.Held.class);
  }

  @Test
  void aGateThatWasAwayLearnsOfACapacityThatChangedMeanwhile() {
    Client client = new Client();
    Seam.answer(client.store.attempt(permits(1, 1), rung -> {}));
    AtomicBoolean there = new AtomicBoolean();
    Supplier<LockStore> opener =
        () -> {
          if (there.get()) {
            return gate;
          }
          throw new StoreUnavailableException("the gate is away");
        };
    GateStore changing = keep(GateStore.owning("gate", null, opener, truth, BRISK));
    assertThat(Seam.answer(changing.setKind("permits", new Kind(2)))).isTrue();
    assertThat(Seam.answer(gate.show("permits")).orElseThrow().kind()).isEqualTo(new Kind(1));

    there.set(true);

    await().until(() -> Seam.answer(gate.show("permits")).orElseThrow().kind().equals(new Kind(2)));
  }

  @Test
  void aGateThatHearsOfTwoChangesOfCapacityInTheOtherOrderLearnsOfTheLast() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch arrives = new CountDownLatch(1);
    LockStore slow =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class, Inspectable.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("setKind") && new Kind(2).equals(arguments[1])) {
                    told.countDown();
                    arrives.await();
                  }
                  return method.invoke(gate, arguments);
                });
    GateStore changing = keep(GateStore.over(slow, truth));
    Claim holder = permits(1, 1);
    Seam.answer(changing.attempt(holder, rung -> {}));
    CompletableFuture<Boolean> first =
        CompletableFuture.supplyAsync(
            () -> Seam.answer(changing.setKind("permits", new Kind(2))),
            task -> new Thread(task).start());
    assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();
    assertThat(Seam.answer(changing.setKind("permits", new Kind(3)))).isTrue();
    assertThat(Seam.answer(gate.show("permits")).orElseThrow().kind()).isEqualTo(new Kind(3));

    arrives.countDown();

    assertThat(Seam.answer(first)).isTrue();
    await()
        .until(
            () -> {
              Seam.answer(changing.renew(List.of(holder)));
              return Seam.answer(gate.show("permits")).orElseThrow().kind().equals(new Kind(3));
            });
  }

  private static Claim permits(int wanted, int capacity) {
    Claim claim = Seam.claim("permits");
    Claim permits = claim.as(new Mode.Permits(wanted, capacity));
    return new Claim(
        permits.lock(),
        permits.id(),
        permits.mode(),
        permits.lease(),
        Duration.ZERO,
        true,
        permits.tokens(),
        permits.tokenFloor(),
        permits.unsettled(),
        permits.holder());
  }

  /** When the second is sent, the client has heard the answer to the first. */
  private static void awaitRenewals(FaultyStore store) {
    int renewed = store.calls(Verb.RENEW);
    await().until(() -> store.calls(Verb.RENEW) > renewed + 1);
  }

  /** Three clients, of which each sees the gate come and go by itself. */
  @Test
  void p1_oneHolder_whileClientsSwitchBetweenGateAndTruth() throws Exception {
    List<Client> clients = List.of(new Client(), new Client(), new Client());
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong inside = new AtomicLong();
    AtomicLong last = new AtomicLong();
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> running = new ArrayList<>();
    for (Client client : clients) {
      for (int t = 0; t < 2; t++) {
        running.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < 60; i++) {
                    try (Lease lease = client.acquire("lock")) {
                      assertThat(inside.compareAndSet(0, lease.token())).isTrue();
                      assertThat(last.getAndSet(lease.token())).isLessThan(lease.token());
                      inside.set(0);
                    }
                  }
                  return null;
                }));
      }
    }
    Future<?> faults =
        threads.submit(
            () -> {
              while (!over.get()) {
                Client client = clients.get(ThreadLocalRandom.current().nextInt(3));
                if (ThreadLocalRandom.current().nextBoolean()) {
                  client.toGate.cut();
                } else {
                  client.toGate.heal();
                }
                TimeUnit.MILLISECONDS.sleep(5); // the faults' own pace
              }
              return null;
            });
    for (Future<?> one : running) {
      one.get(100, TimeUnit.SECONDS);
    }
    over.set(true);
    faults.get(20, TimeUnit.SECONDS);
    threads.shutdown();
  }
}
