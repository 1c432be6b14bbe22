package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.OperationId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import io.pawl.spi.StoreUrl;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
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
    try (Pawl pawl = Pawl.connect(database.url())) {
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
      for (int i = 0; i < 3; i++) {
        pruners.add(CompletableFuture.supplyAsync(() -> counter.ledger().prune(until), threads));
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

  /** Its line is not among those that the first step forgets. */
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
      long limit = Instant.now().minus(HOUR).toEpochMilli();
      PendingOperation.Prune prune = new PendingOperation.Prune(name, limit, 0);

      PendingOperation.Look first = new PendingOperation.Look(name);
      first
          .answer()
          .thenRun(
              () -> {
                counters.submit(again);
                counters.submit(prune);
              });
      counters.submit(first).join();

      assertThat(again.answer().join()).isEqualTo(taken);
      assertThat(prune.answer().join().removed()).isEqualTo(1);
      assertThat(counter.get()).isEqualTo(290);
    }
  }
}
