package io.pawl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.concurrent.SystemTime;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.engine.Engine;
import io.pawl.error.StoreException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.PawlOptions;
import io.pawl.options.Retention;
import io.pawl.spi.CounterStore;
import io.pawl.spi.LockStore;
import io.pawl.spi.Maintainable;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RetentionTest {

  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration SOON = Duration.ofMillis(1);
  private static final OperationId OLD =
      OperationId.of("order-1", Instant.now().minus(Duration.ofDays(2)));

  private final MemoryStore store = new MemoryStore();
  private final PawlOptions forgets =
      PawlOptions.defaults().retention(Retention.NONE.ledgers(DAY).idleLocks(DAY));

  @Test
  void whatIsOlderIsForgottenOnceByOneOfTheClients() {
    try (Pawl one = Pawl.over(store, forgets);
        Pawl other = Pawl.over(store, forgets)) {
      one.counter("a").add(1, OLD);
      one.counter("b").add(2, OLD);
      one.counter("b").add(3);

      assertThat(one.retainer().retain()).isTrue();
      assertThat(one.counter("b").ledger().history(10)).hasSize(1);
      assertThat(one.counter("b").get()).isEqualTo(5);
      assertThatThrownBy(() -> other.counter("a").add(1, OLD))
          .isInstanceOf(OperationTooOldException.class);
      assertThat(other.retainer().retain()).isFalse();
    }
  }

  @Test
  void aClientThatIsClosingForgetsNothingMore() {
    Pawl client = Pawl.over(store, forgets);
    client.counter("a").add(1, OLD);
    client.retainer().stop();
    assertThat(client.retainer().retain()).isFalse();
    assertThat(client.counter("a").ledger().history(10)).hasSize(1);
    client.close();
  }

  /** Which had just been granted the lock that keeps others from it for most of an hour. */
  @Test
  void whatAClientThatIsClosingLeavesIsForgottenByAnother() {
    try (Pawl closing = Pawl.over(store, forgets);
        Pawl other = Pawl.over(store, forgets)) {
      closing.counter("a").add(1, OLD);
      closing.retainer().stop();
      assertThat(closing.retainer().retain()).isFalse();

      assertThat(other.retainer().retain()).isTrue();

      assertThat(other.counter("a").ledger().history(10)).isEmpty();
    }
  }

  @Test
  void itIsDoneAgainAndAgainUntilTheClientCloses() {
    try (Pawl client = Pawl.over(store, forgets)) {
      client.counter("a").add(1, OLD);
      Retainer often = client.retainer().at(new Retainer.Pace(SOON, SOON, Duration.ZERO));
      often.start();
      awaitPruned(client, "a");
      client.counter("b").add(1, OLD);
      awaitPruned(client, "b");

      often.stop();
      await().until(() -> threads("-retention") == 0);
      client.counter("c").add(1, OLD);
      assertThat(client.counter("c").ledger().history(1)).hasSize(1);
    }
  }

  private static void awaitPruned(Pawl client, String counter) {
    await().until(() -> client.counter(counter).ledger().history(1).isEmpty());
  }

  private static long threads(String suffix) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().endsWith(suffix))
        .count();
  }

  @Test
  void aTimeInWhichAMessageMayStillArriveIsRefused() {
    assertThatThrownBy(() -> Retention.NONE.ledgers(Duration.ofMinutes(59)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT59M");
    assertThatThrownBy(() -> Retention.NONE.idleLocks(Duration.ofSeconds(-1)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Retention.NONE.idleLocks(Duration.ofSeconds(Long.MAX_VALUE)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void aTimeFromBeforeAllCountersForgetsNothing() {
    Retention century = Retention.NONE.ledgers(Duration.ofDays(36_500));
    try (Pawl client = Pawl.over(store, PawlOptions.defaults().retention(century))) {
      client.counter("a").add(1, OLD);
      assertThat(client.retainer().retain()).isTrue();
      assertThat(client.counter("a").ledger().history(1)).hasSize(1);
    }
  }

  @Test
  void idleLocksAreForgottenWhereTheStoreRemembersThem() {
    List<Duration> purged = new ArrayList<>();
    try (Pawl client = Pawl.over(remembering(purged, false), forgets)) {
      assertThat(client.retainer().retain()).isTrue();
      assertThat(purged).containsExactly(DAY);
    }
  }

  @Test
  void aLedgerThatCannotBePrunedKeepsNoLockFromBeingForgotten() {
    List<Duration> purged = new ArrayList<>();
    try (Pawl client = Pawl.over(remembering(purged, true), forgets)) {
      assertThatThrownBy(() -> client.retainer().retain())
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("unreadable");
      assertThat(purged).containsExactly(DAY);
    }
  }

  @Test
  void nothingIsPlannedWhereTheStoreHasNothingToForget() {
    LockStore locksAlone =
        (LockStore)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockStore.class},
                (proxy, method, arguments) -> method.invoke(store, arguments));
    assertThat(plannedAtTheStart(store)).isEqualTo(1);
    assertThat(plannedAtTheStart(locksAlone)).isZero();
  }

  private int plannedAtTheStart(LockStore on) {
    AtomicInteger planned = new AtomicInteger();
    Time time =
        new Time() {
          @Override
          public long nanos() {
            return System.nanoTime();
          }

          @Override
          public Pending after(long delayNanos, Runnable task) {
            planned.incrementAndGet();
            return () -> {};
          }
        };
    Workers workers = Workers.on(Runnable::run, Runnable::run);
    Engine engine = new Engine(on, forgets, time, workers, new Random(1), "client");
    try (Pawl client = Pawl.over(on)) {
      Retainer retainer =
          new Retainer(
              engine, forgets.retention(), client.maintenance(), "retention", Retainer.Pace.USUAL);
      int before = planned.get();
      retainer.start();
      return planned.get() - before;
    }
  }

  /** The memory store, as if its locks were kept for ever. */
  private LockStore remembering(List<Duration> purged, boolean countersFail) {
    return (LockStore)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {LockStore.class, CounterStore.class, Maintainable.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("purge")) {
                purged.add((Duration) arguments[0]);
                return CompletableFuture.completedFuture(1L);
              }
              if (method.getName().equals("isMaintained")) {
                return true;
              }
              if (method.getName().equals("list") && countersFail) {
                return CompletableFuture.failedFuture(new StoreException("unreadable"));
              }
              return method.invoke(store, arguments);
            });
  }

  @Test
  void aStoreThatForgetsByItselfSaysSo() {
    try (Pawl client = Pawl.over(store)) {
      assertThatThrownBy(() -> client.maintenance().purge(DAY))
          .isInstanceOf(UnsupportedOperationException.class);
      assertThat(client.maintenance().counters()).isEqualTo(List.of());
    }
  }

  @Test
  void whoClosesDoesNotWaitForAPruneUnderWay() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CompletableFuture<Long> never = new CompletableFuture<>();
    LockStore slow =
        (LockStore)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {LockStore.class, CounterStore.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("prune")) {
                    asked.countDown();
                    return never;
                  }
                  return method.invoke(store, arguments);
                });
    try (SystemTime time = new SystemTime("pawl-test-timer")) {
      Engine engine =
          new Engine(
              slow,
              PawlOptions.defaults(),
              time,
              Workers.on(Runnable::run, Runnable::run),
              new Random(1),
              "client");
      CounterLedger ledger = new Counters(engine).ledger("a");
      CompletableFuture<Long> pruned =
          CompletableFuture.supplyAsync(() -> ledger.prune(Instant.now().minus(DAY)));
      asked.await();

      engine.lifecycle().beginClosing();

      assertThat(engine.lifecycle().answered()).isDone();
      engine.lifecycle().abandon();
      assertThatThrownBy(() -> pruned.get(60, TimeUnit.SECONDS)).hasMessageContaining("closed");
    }
  }
}
