package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.OperationTooOldException;
import io.pawl.counter.Update;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which operations of a counter are forgotten, and what becomes of those that come back. */
class PruneTest {

  private static final Duration HOUR = Duration.ofHours(1);
  private static final AtomicInteger numbers = new AtomicInteger();

  private final String prefix = "prune" + numbers.incrementAndGet() + ":";

  /** A name of this test's own. */
  private String name(String counter) {
    return prefix + counter;
  }

  @ParameterizedTest
  @EnumSource
  void aLedgerOfManyStepsIsPrunedAndEveryOperationCountedOnce(TestDatabase database)
      throws Exception {
    try (Pawl pawl = Pawl.connect(database.url());
        Pawl second = Pawl.connect(database.url());
        Pawl third = Pawl.connect(database.url())) {
      Counter counter = pawl.counter(name("counter"));
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < 1_200; i++) {
        all.add(counter.async().add(1));
      }
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
      Instant last = Instant.now();
      await().until(() -> Instant.now().isAfter(last.plusMillis(1)));
      Instant until = Instant.now();
      ExecutorService threads = Executors.newFixedThreadPool(3);
      List<CompletableFuture<Long>> pruners = new ArrayList<>();
      for (Pawl each : List.of(pawl, second, third)) {
        pruners.add(
            CompletableFuture.supplyAsync(
                () -> each.counter(counter.name()).ledger().prune(until), threads));
      }
      assertThat(pruners.stream().mapToLong(CompletableFuture::join).sum()).isEqualTo(1_200);
      assertThat(counter.ledger().history(10)).isEmpty();
      assertThat(counter.read().value()).isEqualTo(1_200);
      assertThat(counter.read().forgotten()).isEqualTo(1_200);
      threads.shutdown();
    }
  }

  @ParameterizedTest
  @EnumSource
  void anOperationEnteredAfterTheLimitStaysThoughItsIdIsOlder(TestDatabase database) {
    OperationId late = OperationId.of("late", Instant.now().minus(Duration.ofHours(2)));
    try (Pawl pawl = Pawl.connect(database.url())) {
      Counter counter = pawl.counter(name("late"));
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < 400; i++) {
        all.add(counter.async().add(1));
      }
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
      counter.add(1, late);

      assertThat(counter.ledger().prune(Instant.now().minus(HOUR))).isZero();
      assertThat(counter.add(1, late).value()).isEqualTo(401);
      assertThat(counter.get()).isEqualTo(401);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_anOldIdThatMeetsAPruneInOneBatchIsAppliedOnce(TestDatabase database) {
    long hoursAgo = Instant.now().minus(Duration.ofHours(3)).toEpochMilli();
    String name = name("batch");
    Database server = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    CounterRequest old = CounterRequest.of(name, "order", hoursAgo, new Operation.Add(-10), true);
    try (Pawl pawl = Pawl.connect(database.url());
        CounterCombiner counters = new CounterCombiner(server, "pawl-test-counters")) {
      Counter counter = pawl.counter(name);
      List<CompletableFuture<?>> all = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        all.add(counter.async().add(1));
      }
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
      CounterAnswer taken = counters.submit(new PendingOperation.Change(old)).join();
      PendingOperation.Change again = new PendingOperation.Change(old);
      PendingOperation.Change andAgain = new PendingOperation.Change(old);
      long limit = Instant.now().minus(HOUR).toEpochMilli();
      PendingOperation.KeepFrom keepFrom = new PendingOperation.KeepFrom(name, limit);

      PendingOperation.Look first = new PendingOperation.Look(name);
      first
          .answer()
          .thenRun(
              () -> {
                counters.submit(again);
                counters.submit(keepFrom);
                counters.submit(andAgain);
              });
      counters.submit(first).join();

      assertThat(again.answer().join()).isEqualTo(taken);
      assertThat(andAgain.answer().join()).isEqualTo(taken);
      assertThat(keepFrom.answer().join()).isTrue();
      assertThat(counter.get()).isEqualTo(290);
    }
  }

  /** Its line stays: it is as young as the limit wants, or reserves. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_anIdThatIsKnownIsNotTooOldInTheBatchThatLimitsItsCounter(
      TestDatabase database) {
    long hoursAgo = Instant.now().minus(Duration.ofHours(3)).toEpochMilli();
    String name = name("limited");
    Database server = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    CounterRequest reserve =
        CounterRequest.of(name, "order", hoursAgo, new Operation.Reserve(2, 3_600_000), true);
    try (Pawl pawl = Pawl.connect(database.url());
        CounterCombiner counters = new CounterCombiner(server, "pawl-test-counters")) {
      pawl.counter(name).update(Update.set(10));
      CounterAnswer reserved = counters.submit(new PendingOperation.Change(reserve)).join();
      PendingOperation.Change again = new PendingOperation.Change(reserve);
      long limit = Instant.now().minus(HOUR).toEpochMilli();

      PendingOperation.Look first = new PendingOperation.Look(name);
      first
          .answer()
          .thenRun(
              () -> {
                counters.submit(new PendingOperation.KeepFrom(name, limit));
                counters.submit(again);
              });
      counters.submit(first).join();

      assertThat(again.answer().join()).isEqualTo(reserved);
    }
  }

  /** A transaction that deletes them meets those that would enter them again. */
  @ParameterizedTest
  @EnumSource
  void p7_conservation_oldIdsThatComeBackWhileTheyAreForgottenAreAppliedOnce(TestDatabase database)
      throws Exception {
    String name = name("back");
    Instant hoursAgo = Instant.now().minus(HOUR);
    List<OperationId> ids = new ArrayList<>();
    for (int i = 0; i < 800; i++) {
      ids.add(OperationId.of("order-" + i, hoursAgo));
    }
    ExecutorService threads = Executors.newFixedThreadPool(5);
    try (Pawl pawl = Pawl.connect(database.url());
        Pawl other = Pawl.connect(database.url())) {
      pawl.counter(name).update(Update.set(1_000));
      CompletableFuture.allOf(
              ids.stream()
                  .map(id -> pawl.counter(name).async().tryTake(1, id).toCompletableFuture())
                  .toArray(CompletableFuture[]::new))
          .join();
      Instant last = Instant.now();
      await().until(() -> Instant.now().isAfter(last.plusMillis(1)));
      CompletableFuture<Long> pruned =
          CompletableFuture.supplyAsync(() -> other.counter(name).ledger().prune(last), threads);
      List<CompletableFuture<Integer>> again = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        long seed = i;
        again.add(
            CompletableFuture.supplyAsync(() -> takeAgain(pawl.counter(name), ids, seed), threads));
      }

      for (CompletableFuture<Integer> each : again) {
        assertThat(each.get()).isEqualTo(800);
      }
      assertThat(pruned.get()).isGreaterThanOrEqualTo(800);
      assertThat(pawl.counter(name).get()).isEqualTo(200);
      Balance.assertOf(database, name);
    } finally {
      threads.shutdownNow();
    }
  }

  /** How many were answered as before, or as too old. */
  private static int takeAgain(Counter counter, List<OperationId> ids, long seed) {
    List<OperationId> shuffled = new ArrayList<>(ids);
    Collections.shuffle(shuffled, new Random(seed));
    int answered = 0;
    for (OperationId id : shuffled) {
      try {
        answered += counter.tryTake(1, id).isApplied() ? 1 : 0;
      } catch (OperationTooOldException e) {
        answered++;
      }
    }
    return answered;
  }

  /** Where the pages of old lines must be read and written, that takes a while. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aCounterIsFreeWhileItsOldLinesAreDeleted(TestDatabase database) throws Exception {
    String name = name("free");
    try (Pawl pawl = Pawl.connect(database.url());
        Connection somebody = database.connect();
        Connection other = database.connect()) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(10), OperationId.of("first", Instant.now().minus(HOUR)));
      somebody.setAutoCommit(false);
      try (Statement lock = somebody.createStatement()) {
        lock.executeQuery(
                "SELECT id FROM pawl_ledger WHERE id = 'first' AND counter = '"
                    + name
                    + "' FOR UPDATE")
            .close();
      }
      CompletableFuture<Long> pruning =
          CompletableFuture.supplyAsync(
              () -> counter.ledger().prune(Instant.now().minus(HOUR.dividedBy(2))));
      await().until(() -> counter.read().keptFromMillis() > 0);

      for (int left = 9; left > 0; left--) {
        assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(left));
        lockAtOnce(other, name);
      }
      assertThat(pruning).isNotDone();

      somebody.rollback();
      await().until(pruning::isDone);
      counter.ledger().prune(Instant.now().minus(HOUR.dividedBy(2)));
      assertThat(counter.read().forgotten()).isEqualTo(10);
      Balance.assertOf(database, name);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_anIdThatWasUsedAnewIsNotForgottenWithItsOldLine(TestDatabase database)
      throws Exception {
    String name = name("anew");
    Instant limit = Instant.now().minus(HOUR);
    try (Pawl pawl = Pawl.connect(database.url());
        HikariDataSource pool = new HikariDataSource()) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(10));
      counter.tryTake(1, OperationId.of("order", limit.minus(HOUR)));
      AtomicBoolean once = new AtomicBoolean();
      Runnable meanwhile =
          () -> {
            if (!once.getAndSet(true)) {
              counter.ledger().prune(limit);
              counter.tryTake(5, OperationId.of("order"));
            }
          };
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      try (Pawl other = Pawl.over(SqlStore.over(beforeDeletes(pool, meanwhile)))) {
        other.counter(name).ledger().prune(limit);
      }

      assertThat(once).as("it was used anew").isTrue();
      Balance.assertOf(database, name);
      assertThat(counter.tryTake(5, OperationId.of("order")).value()).isEqualTo(4);
      assertThat(counter.get()).isEqualTo(4);
    }
  }

  /** The pool, with {@code meanwhile} just before lines of a ledger are deleted. */
  private static DataSource beforeDeletes(DataSource pool, Runnable meanwhile) {
    return with(
        DataSource.class,
        pool,
        (method, arguments, call) ->
            method.equals("getConnection")
                ? with(
                    Connection.class,
                    (Connection) call.call(),
                    (prepare, sql, made) -> {
                      if (prepare.equals("prepareStatement")
                          && String.valueOf(sql[0]).contains("DELETE")
                          && String.valueOf(sql[0]).contains("pawl_ledger")) {
                        meanwhile.run();
                      }
                      return made.call();
                    })
                : call.call());
  }

  private interface Around {
    Object call(String method, Object[] arguments, Callable<Object> call) throws Exception;
  }

  private static <T> T with(Class<T> type, T driver, Around around) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                around.call(
                    method.getName(),
                    arguments,
                    () -> {
                      try {
                        return method.invoke(driver, arguments);
                      } catch (InvocationTargetException e) {
                        throw e.getCause() instanceof Exception cause ? cause : e;
                      }
                    })));
  }

  /** Fails if somebody has the counter's row. */
  private static void lockAtOnce(Connection other, String counter) throws SQLException {
    other.setAutoCommit(false);
    try (Statement lock = other.createStatement()) {
      lock.executeQuery(
              "SELECT value FROM pawl_counter WHERE name = '" + counter + "' FOR UPDATE NOWAIT")
          .close();
    }
    other.rollback();
  }
}
