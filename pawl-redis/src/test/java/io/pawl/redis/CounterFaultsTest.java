package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.RedisServer;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counters on a server that dies or refuses, and over a network that loses replies. */
class CounterFaultsTest {

  private static final long STOCK = 1_000_000;
  private static final Operation TAKE = new Operation.Add(-1);

  private final RedisServer server = RedisServer.setup().persistent().start();
  private final FaultProxy proxy = FaultProxy.before(server);
  private final RedisStore near = RedisStore.connect(server.url());
  private final RedisStore far =
      Seam.connect("redis://" + proxy.host() + ":" + proxy.port() + "?timeout=500ms");

  @AfterEach
  void close() {
    far.close();
    near.close();
    proxy.close();
    server.close();
  }

  private static CounterRequest request(String counter, String id, Operation operation) {
    return CounterRequest.of(counter, id, 0, operation, true);
  }

  private static CounterAnswer apply(
      RedisStore store, String counter, String id, Operation operation) {
    return Seam.answer(store.apply(request(counter, id, operation)));
  }

  private static long value(RedisStore store, String counter) {
    return Seam.answer(store.read(counter)).orElseThrow().value();
  }

  @ParameterizedTest
  @EnumSource
  void p7_conservation_anIdTriedTenTimesOverDroppedRepliesIsAppliedOnce(AfterDrop then) {
    apply(near, "replies", "stock", new Operation.SetTo(10));
    for (int i = 0; i < 10; i++) {
      int before = proxy.droppedReplies();
      proxy.dropReplies(1, then, "EVALSHA");
      await()
          .until(
              () -> {
                assertThatThrownBy(() -> apply(far, "replies", "order", TAKE))
                    .isInstanceOf(StoreUnavailableException.class);
                return proxy.droppedReplies() > before;
              });
    }
    proxy.heal();
    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> apply(far, "replies", "order", TAKE) instanceof CounterAnswer.Applied);
    assertThat(value(near, "replies")).isEqualTo(9);
    assertThat(Seam.answer(near.history("replies", 100))).hasSize(2);
  }

  @Test
  void scriptFlushIsMendedByOneMoreTrip() {
    apply(near, "flushed", "stock", new Operation.SetTo(10));
    for (int i = 1; i <= 3; i++) {
      server.call("SCRIPT", "FLUSH");
      apply(near, "flushed", "order" + i, TAKE);
      server.call("SCRIPT", "FLUSH");
      assertThat(value(near, "flushed")).isEqualTo(10 - i);
    }
  }

  /** The server syncs each write before it answers. */
  @Test
  void p7_conservation_whatWasAcknowledgedSurvivesKillMinusNine() throws Exception {
    apply(near, "killed", "stock", new Operation.SetTo(STOCK));
    Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
    AtomicBoolean dead = new AtomicBoolean();
    AtomicInteger next = new AtomicInteger();
    List<Thread> buyers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread buyer =
          new Thread(
              () -> {
                while (!dead.get()) {
                  String id = "order" + next.getAndIncrement();
                  try {
                    apply(near, "killed", id, TAKE);
                    acknowledged.add(id);
                  } catch (StoreUnavailableException e) {
                    dead.set(true);
                  }
                }
              });
      buyer.start();
      buyers.add(buyer);
    }
    await().until(() -> acknowledged.size() > 200);
    server.kill();
    for (Thread buyer : buyers) {
      buyer.join();
    }
    server.restart();

    await()
        .ignoreException(StoreUnavailableException.class)
        .until(() -> Seam.answer(near.read("killed")).isPresent());
    List<LedgerEntry> ledger = Seam.answer(near.history("killed", Integer.MAX_VALUE));
    assertThat(ledger.stream().map(LedgerEntry::id)).containsAll(acknowledged);
    assertThat(value(near, "killed")).isEqualTo(STOCK - (ledger.size() - 1));
    for (int i = 0; i < next.get(); i++) {
      apply(near, "killed", "order" + i, TAKE);
    }
    assertThat(value(near, "killed")).isEqualTo(STOCK - next.get());
  }

  @Test
  void p7_conservation_aChangeThatFindsNoConnectionIsNotInDoubt() {
    apply(near, "away", "stock", new Operation.SetTo(10));
    server.kill();

    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> apply(near, "away", "order", TAKE))
                    .isInstanceOfSatisfying(
                        StoreUnavailableException.class,
                        e -> assertThat(e.isUnsent()).as(e.getMessage()).isTrue()));
  }

  @Test
  void p7_conservation_aChangeThatFindsTheStoreClosedIsNotInDoubt() {
    near.close();

    assertThatThrownBy(() -> apply(near, "closed", "order", TAKE))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class,
            e -> assertThat(e.isUnsent()).as(e.getMessage()).isTrue());
  }

  @Test
  void whatTheServerRefusesChangesNothing() {
    apply(near, "memory", "stock", new Operation.SetTo(10));
    apply(near, "memory", "open", new Operation.Reserve(2, 60_000));
    server.call("CONFIG", "SET", "maxmemory", "1");
    assertThatThrownBy(() -> apply(near, "memory", "order", TAKE))
        .isInstanceOfSatisfying(
            StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isTrue())
        .hasMessageContaining("maxmemory");
    assertThat(value(near, "memory")).isEqualTo(8);
    server.call("CONFIG", "SET", "maxmemory", "0");
    assertThat(Seam.answer(near.history("memory", 10))).hasSize(2);
  }

  @Test
  void aKeyWithOtherDataIsNotTouched() {
    server.call("SET", Keys.ofCounter("foreign"), "data");
    assertThatThrownBy(() -> apply(near, "foreign", "order", TAKE))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("pawl:counter:");
    assertThat(server.call("GET", Keys.ofCounter("foreign"))).isEqualTo("data");
  }

  @Test
  void aCounterIsLostOrKeptAsAWhole() {
    apply(near, "whole", "stock", new Operation.SetTo(10));
    apply(near, "whole", "order", TAKE);
    apply(near, "whole", "open", new Operation.Reserve(2, 60_000));
    assertThat(server.list("KEYS", "*")).hasSize(1);
    server.call("RENAME", Keys.ofCounter("whole"), Keys.ofCounter("moved"));
    assertThat(Seam.answer(near.read("moved")).map(CounterView::reserved)).contains(2L);
    assertThat(apply(near, "moved", "order", TAKE)).isInstanceOf(CounterAnswer.Applied.class);
    assertThat(value(near, "moved")).isEqualTo(7);
  }

  /** Those under way together share the connection; each is answered for itself. */
  @Test
  void answersGoToWhoAsked() {
    apply(near, "many", "stock", new Operation.SetTo(STOCK));
    AtomicLong lowest = new AtomicLong(STOCK);
    List<CompletableFuture<CounterAnswer>> asked = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      asked.add(
          near.apply(request("many", "order" + i, new Operation.Add(-1 - i)))
              .toCompletableFuture());
    }
    for (int i = 0; i < 500; i++) {
      CounterAnswer.Applied applied = (CounterAnswer.Applied) Seam.answer(asked.get(i));
      LedgerEntry entry = applied.entries().get("many");
      assertThat(entry.id()).isEqualTo("order" + i);
      assertThat(entry.change()).isEqualTo(-1 - i);
      lowest.accumulateAndGet(entry.value(), Math::min);
    }
    assertThat(lowest.get()).isEqualTo(STOCK - 500 * 501 / 2);
    assertThat(value(near, "many")).isEqualTo(lowest.get());
  }
}
