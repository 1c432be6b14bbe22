package io.pawl.composite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.LockOptions;
import io.pawl.Pawl;
import io.pawl.PawlOptions;
import io.pawl.StoreException;
import io.pawl.servers.RedisServer;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LockStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
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
    one.counter("stock").set(stock);
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong sold = new AtomicLong();
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> trading = new ArrayList<>();
    for (Pawl pawl : List.of(one, two)) {
      for (int t = 0; t < 2; t++) {
        trading.add(
            threads.submit(
                () -> {
                  while (!over.get()) {
                    sold.addAndGet(pawl.counter("stock").tryTake(3).isTaken() ? 3 : 0);
                    sold.addAndGet(pawl.counter("stock").giveBack(1).isApplied() ? -1 : 0);
                  }
                  return null;
                }));
      }
    }
    torment();
    over.set(true);
    for (Future<?> one : trading) {
      one.get(60, TimeUnit.SECONDS);
    }
    threads.shutdown();

    long left = Seam.value((CounterStore) truth, "stock");
    assertThat(stock - sold.get()).isEqualTo(left);
    assertThat(sold.get()).isPositive();
    agree(left);
    await().until(() -> Seam.answer(((CounterStore) gate).history("stock", 1_000)).size() < 10);
  }

  private void agree(long value) {
    await().ignoreExceptions().until(() -> Seam.value((CounterStore) gate, "stock") == value);
  }

  @Test
  void p7_conservation_aGateRestoredFromAnOldSnapshotSellsNothing() throws Exception {
    one.counter("stock").set(10);
    agree(10);
    redis.call("SAVE");
    assertThat(one.counter("stock").tryTake(10).isTaken()).isTrue();
    assertThat(one.counter("stock").tryTake(1).isTaken()).isFalse();
    agree(0);
    redis.kill();
    redis.restart();

    for (int i = 0; i < 50; i++) {
      assertThat(two.counter("stock").tryTake(1).isTaken()).isFalse();
    }
    agree(0);
  }

  @Test
  void p1_oneHolder_whateverHappensToTheGate() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicLong inside = new AtomicLong();
    AtomicLong last = new AtomicLong();
    AtomicLong visits = new AtomicLong();
    LockOptions strict = LockOptions.defaults().strictOrder().lease(Duration.ofSeconds(5));
    ExecutorService threads = Executors.newCachedThreadPool();
    List<Future<?>> running = new ArrayList<>();
    for (Pawl pawl : List.of(one, two, one, two)) {
      running.add(
          threads.submit(
              () -> {
                while (!over.get()) {
                  try (Lease lease = pawl.lock("lock", strict).acquire()) {
                    assertThat(inside.compareAndSet(0, lease.token())).isTrue();
                    assertThat(last.getAndSet(lease.token())).isLessThan(lease.token());
                    visits.incrementAndGet();
                    inside.set(0);
                  }
                }
                return null;
              }));
    }
    torment();
    long before = visits.get();
    await().until(() -> visits.get() > before + 10);
    over.set(true);
    for (Future<?> each : running) {
      each.get(60, TimeUnit.SECONDS);
    }
    threads.shutdown();
  }

  @Test
  void aClientStartsWithoutItsGateAndFindsItLater() throws Exception {
    redis.kill();
    try (Pawl pawl = Pawl.connect("gate:" + gateUrl() + "|" + truthUrl())) {
      pawl.lock("lock").acquire().close();
      pawl.counter("stock").set(7);
      assertThat(pawl.counter("stock").tryTake(1).left()).isEqualTo(6);
      redis.restart();
      await()
          .ignoreExceptionsInstanceOf(StoreException.class)
          .until(
              () -> {
                pawl.counter("stock").tryTake(1);
                return Seam.value((CounterStore) gate, "stock") >= 0;
              });
    }
  }
}
