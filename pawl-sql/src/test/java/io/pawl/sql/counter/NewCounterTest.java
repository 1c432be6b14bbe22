package io.pawl.sql.counter;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.Operation;
import io.pawl.sql.TestDatabase;
import io.pawl.sql.connection.Connections;
import io.pawl.sql.counter.PendingOperation.Change;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.transaction.Session;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A batch finds a counter missing, and somebody else makes it before the batch does. */
class NewCounterTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "new-" + names.incrementAndGet();

  /** What happens before a row is inserted. */
  private interface Meanwhile {
    void happens() throws SQLException;
  }

  /** Connections on which something happens before each of the next rows is inserted. */
  private record Disturbed(Connections real, Queue<Meanwhile> next) implements Connections {

    @Override
    public String describe() {
      return real.describe();
    }

    @Override
    public boolean areOurs() {
      return real.areOurs();
    }

    @Override
    public Connection open() throws SQLException {
      return disturbed(Connection.class, real.open(), "");
    }

    /**
     * @param sql of a statement
     */
    private <T> T disturbed(Class<T> type, T driver, String sql) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (proxy, method, arguments) -> {
                Meanwhile meanwhile =
                    method.getName().startsWith("execute")
                            && sql.startsWith("INSERT INTO pawl_counter")
                        ? next.poll()
                        : null;
                if (meanwhile != null) {
                  meanwhile.happens();
                }
                try {
                  Object answer = method.invoke(driver, arguments);
                  return answer instanceof PreparedStatement statement
                      ? disturbed(PreparedStatement.class, statement, (String) arguments[0])
                      : answer;
                } catch (InvocationTargetException e) {
                  throw e.getCause();
                }
              }));
    }
  }

  private static CounterCombiner disturbed(TestDatabase server, Meanwhile... meanwhile) {
    Database real = server.database();
    Queue<Meanwhile> next = new ConcurrentLinkedQueue<>(List.of(meanwhile));
    return new CounterCombiner(
        new Database(real.dialect(), new Disturbed(real.connections(), next), new AtomicBoolean()),
        "pawl-test-counters");
  }

  private static long putOff(CounterCombiner counters) {
    Map<String, Long> figures = new TreeMap<>();
    counters.tally().addTo(figures, "counters");
    return figures.get("counters.putOff");
  }

  /** Else an open reservation, which outlives its time in the ledger, is refused as too old. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_anIdIsKnownThoughItsCounterIsMadeAndPrunedMeanwhile(TestDatabase server)
      throws Exception {
    Instant hoursAgo = Instant.now().minus(Duration.ofHours(3)).truncatedTo(ChronoUnit.MILLIS);
    CounterRequest request =
        CounterRequest.of(
            name, "cart", hoursAgo.toEpochMilli(), new Operation.Reserve(2, 300_000), true);
    try (Pawl pawl = Pawl.connect(server.url())) {
      Counter counter = pawl.counter(name);
      Meanwhile reservedAndPruned =
          () -> {
            counter.add(5);
            counter.reserve(2, Duration.ofMinutes(5), OperationId.of("cart", hoursAgo));
            counter.ledger().prune(Instant.now().minus(Duration.ofHours(1)));
          };
      try (CounterCombiner counters = disturbed(server, reservedAndPruned)) {
        CounterAnswer answer = counters.submit(new Change(request)).get(60, SECONDS);

        assertThat(answer).isInstanceOf(CounterAnswer.Applied.class);
        assertThat(counter.get()).as("reserved once").isEqualTo(3);
      }
    }
  }

  /** PostgreSQL inserts nothing beside a row that is there, whoever has locked it. */
  @Test
  void aCounterThatIsMadeAndLockedMeanwhileIsChangedAtTheStoresTime() throws Exception {
    TestDatabase server = TestDatabase.POSTGRES;
    Database database = server.database();
    CounterTables tables = new CounterTables(database.dialect());
    Instant before = Instant.now().minus(Duration.ofHours(1));
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Pawl pawl = Pawl.connect(server.url());
        Session maker = new Session(database);
        Session locker = new Session(database)) {
      pawl.counter(name + "-tables").get();
      Meanwhile isBeingMade =
          () -> {
            tables.lock(maker, Set.of(name), Set.of(), Map.of());
            tables.insert(maker, Set.of(name));
          };
      Meanwhile isMadeAndLocked =
          () -> {
            maker.commit();
            tables.lock(locker, Set.of(name), Set.of(), Map.of());
          };
      try (CounterCombiner counters = disturbed(server, isBeingMade, isMadeAndLocked)) {
        CounterRequest add =
            CounterRequest.of(name, "add", System.currentTimeMillis(), new Operation.Add(1), false);
        CompletableFuture<CounterAnswer> answer = new CompletableFuture<>();
        threads.execute(() -> counters.submit(new Change(add)).thenAccept(answer::complete));
        await().until(() -> putOff(counters) == 1);
        locker.rollBack();

        assertThat(answer.get(60, SECONDS))
            .isInstanceOfSatisfying(
                CounterAnswer.Applied.class,
                applied ->
                    assertThat(applied.entries().values())
                        .extracting(LedgerEntry::at)
                        .allMatch(at -> at > before.toEpochMilli()));
      }
    } finally {
      threads.shutdownNow();
    }
  }
}
