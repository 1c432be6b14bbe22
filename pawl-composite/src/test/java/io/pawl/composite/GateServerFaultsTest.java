package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Claim;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Inspectable;
import io.pawl.spi.LockStore;
import io.pawl.tck.rig.FaultyStore;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A Redis that forgets, stands still, dies and comes back old, before SQLite. */
class GateServerFaultsTest {

  private static final GateOptions BRISK =
      GateOptions.defaults()
          .gatePatience(Duration.ofMillis(300))
          .gatePause(Duration.ofMillis(100))
          .soldOutKept(Duration.ofMillis(50))
          .settle(Duration.ofMillis(100));

  @TempDir Path folder;

  private final RedisServer redis = RedisServer.setup().persistent().start();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final Threads threads = keep(new Threads());
  private LockStore truth;
  private LockStore gate;
  private Pawl one;
  private Pawl two;

  @BeforeEach
  void open() {
    truth = keep(Servers.open(truthUrl()));
    gate = keep(Servers.open(gateUrl()));
    one = client();
    two = client();
  }

  private String truthUrl() {
    return "sqlite:" + folder.resolve("truth.db");
  }

  private String gateUrl() {
    return redis.url() + "?timeout=500ms";
  }

  private Pawl client() {
    LockStore ownGate = keep(Servers.open(gateUrl()));
    LockStore ownTruth = keep(Servers.open(truthUrl()));
    GateStore store = keep(GateStore.over(ownGate, ownTruth, BRISK));
    return keep(Pawl.over(store, PawlOptions.defaults().patience(Duration.ofSeconds(20))));
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
    redis.close();
  }

  /** Somebody else's data lie where the gate would keep the lock and the counter. */
  @Test
  void aKeyThatIsSpoiltAtTheGateLeavesOutNothingElse() throws Exception {
    GateStore store = keep(GateStore.over(gate, truth, BRISK));
    Pawl pawl = keep(Pawl.over(store));
    redis.call("RPUSH", "pawl:lock:spoilt", "data");
    redis.call("RPUSH", "pawl:counter:stock", "data");

    pawl.lock("spoilt").acquire().close();
    pawl.lockAll("good", "spoilt").acquire().close();
    pawl.counter("stock").update(Update.set(1));
    assertThat(pawl.counter("stock").tryTake(1).isApplied()).isTrue();
    assertThat(pawl.counter("stock").tryTake(1).isApplied()).isFalse();

    assertThat(store.isGateAway()).isFalse();
    assertThat(redis.call("LLEN", "pawl:lock:spoilt")).isEqualTo(1L);
  }

  /** Its account has the rights for locks and not those for counters. */
  @Test
  void aGateThatDeniesCountersAloneIsNotLeftOut() throws Exception {
    redis.call("ACL", "SETUSER", "locks", "on", ">secret", "~pawl:lock:*", "&pawl:bell:*", "+@all");
    String url = gateUrl().replace("redis://", "redis://locks:secret@");
    GateStore store = keep(GateStore.over(keep(Servers.open(url)), truth, BRISK));
    Pawl pawl = keep(Pawl.over(store));

    for (int i = 0; i < 3; i++) {
      pawl.counter("stock").update(Update.set(1));
      assertThat(store.isGateAway()).isFalse();
      assertThat(pawl.counter("stock").tryTake(1).isApplied()).isTrue();
      assertThat(pawl.counter("stock").tryTake(1).isApplied()).isFalse();
      pawl.lock("lock" + i).acquire().close();
      assertThat(redis.call("EXISTS", "pawl:lock:lock" + i)).isEqualTo(1L);
    }
  }

  /** Else every client would leave the gate out for ever, once it was away. */
  @Test
  void aGateIsFoundAgainThoughTheKeyOfItsProbeIsSpoilt() {
    redis.call("RPUSH", "pawl:lock:pawl:gate-probe", "data");
    Gate left = new Gate("gate", gate, () -> gate, BRISK, threads, () -> {});

    left.ask(store -> CompletableFuture.failedFuture(new StoreUnavailableException("once")));

    assertThat(left.isAway()).isTrue();
    await().until(() -> !left.isAway());
  }

  /** As a Cluster with a silent primary, where a probe of another one would find all well. */
  @Test
  void aGateOfWhichAPartIsSilentIsLeftOutUntilThatAnswers() {
    AtomicBoolean silent = new AtomicBoolean(true);
    LockStore inParts =
        (LockStore)
            Proxy.newProxyInstance(
                LockStore.class.getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("renewGroup")) {
                    return part(arguments[0]);
                  }
                  return method.getName().equals("attempt")
                          && silent.get()
                          && part(arguments[0]) == 1
                      ? CompletableFuture.failedFuture(new StoreUnavailableException("silent"))
                      : method.invoke(gate, arguments);
                });
    Gate left = new Gate("gate", inParts, () -> inParts, BRISK, threads, () -> {});

    left.ask(store -> CompletableFuture.failedFuture(new StoreUnavailableException("silent")));

    await().during(BRISK.gatePause().multipliedBy(5)).until(left::isAway);
    silent.set(false);
    await().until(() -> !left.isAway());
  }

  private static int part(Object claim) {
    return ((Claim) claim).lock().equals("pawl:gate-probe") ? 0 : 1;
  }

  /** It answers questions all the same, and each time it was taken for well, claims would fail. */
  @Test
  void aGateThatAnswersButTakesNoClaimStaysLeftOutUntilItDoes() throws Exception {
    AtomicInteger backs = new AtomicInteger();
    Gate full = new Gate("gate", gate, () -> gate, BRISK, threads, backs::incrementAndGet);
    redis.call("CONFIG", "SET", "maxmemory", "1");
    full.ask(store -> store.attempt(Seam.claim("lock"), rung -> {}));
    assertThat(full.isAway()).isTrue();

    long asked = scripts();
    await().until(() -> scripts() > asked + 5 || backs.get() > 0);
    assertThat(full.isAway()).isTrue();
    redis.call("CONFIG", "SET", "maxmemory", "0");

    await().until(() -> !full.isAway());
    assertThat(Seam.answer(((Inspectable) gate).list(10))).isEmpty();
  }

  /** It confirms a grant by a renewal, which meets nothing where the probe has run out by then. */
  @Test
  void aGateThatIsFarAwayAndWaitsForReplicasIsFoundAgain() throws Exception {
    keep(RedisServer.setup().replicaOf(redis).start());
    FaultProxy way = keep(FaultProxy.before(redis));
    way.delay(Direction.TO_SERVER, Duration.ofMillis(150));
    String url = "redis://" + way.host() + ":" + way.port() + "?waitReplicas=1&timeout=2s";
    LockStore far = keep(Servers.open(url));
    Gate left =
        new Gate(
            "gate", far, () -> far, BRISK.gatePatience(Duration.ofSeconds(2)), threads, () -> {});

    left.ask(store -> CompletableFuture.failedFuture(new StoreUnavailableException("once")));

    assertThat(left.isAway()).isTrue();
    await().until(() -> !left.isAway());
  }

  /** How many the gate was asked to run so far. */
  private long scripts() {
    Matcher calls =
        Pattern.compile("cmdstat_evalsha:calls=(\\d+)")
            .matcher(String.valueOf(redis.call("INFO", "commandstats")));
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  /** The gate has its claim, never heard of its end, and would keep others out for a lease. */
  @Test
  void aClientThatClosesWhileItLeavesTheGateOutLeavesNothingBehindThere() throws Exception {
    GateStore store = keep(GateStore.over(gate, truth, BRISK.gatePause(Duration.ofMinutes(1))));
    Pawl pawl = keep(Pawl.over(store));
    redis.pause();
    pawl.lock("lock").acquire().close();
    assertThat(store.isGateAway()).isTrue();
    redis.resume();

    pawl.close();
    store.close();

    assertThat(one.lock("lock").tryAcquire()).isPresent();
  }

  /** The gate has its claim, and would keep others out for a lease when the truth is back. */
  @Test
  void aClientThatClosesWhileTheTruthIsAwayLeavesNothingBehindAtTheGate() {
    FaultyStore toTruth = new FaultyStore(truth);
    GateOptions patient = BRISK.gatePatience(Duration.ofSeconds(5));
    GateStore store = keep(GateStore.over(gate, toTruth, patient));
    Pawl pawl = keep(Pawl.over(store, PawlOptions.defaults().patience(Duration.ofMillis(500))));
    toTruth.cut();
    assertThatThrownBy(() -> pawl.lock("lock").tryAcquire())
        .isInstanceOf(StoreUnavailableException.class);

    pawl.close();
    store.close();

    assertThat(one.lock("lock").tryAcquire()).isPresent();
  }

  /** Everything that can happen to a gate, one after the other. */
  private void torment() throws InterruptedException {
    redis.call("FLUSHALL");
    TimeUnit.MILLISECONDS.sleep(200); // the faults' own pace
    redis.pause();
    TimeUnit.MILLISECONDS.sleep(500);
    redis.resume();
    TimeUnit.MILLISECONDS.sleep(200);
    redis.kill();
    TimeUnit.MILLISECONDS.sleep(200);
    redis.restart();
    TimeUnit.MILLISECONDS.sleep(300);
  }

  @Test
  void p7_conservation_whateverHappensToTheGate() throws Exception {
    long stock = 1_000_000;
    one.counter("stock").update(Update.set(stock));
    Crowd trade = Crowd.trading("stock", one, one, two, two);
    torment();
    long sold = trade.end();

    long left = Seam.value((CounterStore) truth, "stock");
    assertThat(stock - sold).isEqualTo(left);
    assertThat(sold).isPositive();
    agree(left);
    await()
        .ignoreExceptionsInstanceOf(StoreException.class)
        .until(() -> Seam.answer(((CounterStore) gate).history("stock", 1_000)).size() < 10);
  }

  private void agree(long value) {
    await().ignoreExceptions().until(() -> Seam.value((CounterStore) gate, "stock") == value);
  }

  @Test
  void p7_conservation_aGateRestoredFromAnOldSnapshotSellsNothing() throws Exception {
    one.counter("stock").update(Update.set(10));
    agree(10);
    redis.call("SAVE");
    assertThat(one.counter("stock").tryTake(10).isApplied()).isTrue();
    assertThat(one.counter("stock").tryTake(1).isApplied()).isFalse();
    agree(0);
    redis.kill();
    redis.restart();

    for (int i = 0; i < 50; i++) {
      assertThat(two.counter("stock").tryTake(1).isApplied()).isFalse();
    }
    agree(0);
  }

  @Test
  void p1_oneHolder_whateverHappensToTheGate() throws Exception {
    LockOptions strict = LockOptions.defaults().strictOrder().lease(Duration.ofSeconds(5));
    Crowd visits = Crowd.visiting("lock", strict, one, two, one, two);
    torment();
    visits.awaitTurns(3);
    visits.end();
  }

  @Test
  void aClientStartsWithoutItsGateAndFindsItLater() throws Exception {
    redis.kill();
    try (Pawl pawl = Pawl.connect("gate:" + gateUrl() + "|" + truthUrl())) {
      pawl.lock("lock").acquire().close();
      pawl.counter("stock").update(Update.set(7));
      assertThat(pawl.counter("stock").tryTake(1).value()).isEqualTo(6);
      redis.restart();
      await()
          .ignoreExceptions()
          .until(
              () -> {
                pawl.counter("stock").tryTake(1);
                return Seam.value((CounterStore) gate, "stock") >= 0;
              });
    }
  }
}
