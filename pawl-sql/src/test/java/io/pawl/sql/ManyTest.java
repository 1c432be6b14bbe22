package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.sql.lock.StoredLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ManyTest {

  private static final int USERS = 5_000;
  private static final int NAMES = 100;

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "many-" + names.incrementAndGet();

  /** Half of them are clients of another store. The counters are plain: the locks keep them. */
  @ParameterizedTest
  @EnumSource
  void fiveThousandUsersAtOnceAreAllServedAndTheSumIsExact(TestDatabase database) throws Exception {
    PawlOptions patient = PawlOptions.defaults().patience(Duration.ofMinutes(1));
    int[] counters = new int[NAMES];
    try (Pawl here = Pawl.connect(database.url(), patient);
        Pawl there = Pawl.connect(database.url(), patient)) {
      List<CompletableFuture<Void>> cycles = new ArrayList<>();
      for (int i = 0; i < USERS; i++) {
        int counter = i % NAMES;
        Pawl pawl = i / NAMES % 2 == 0 ? here : there;
        CompletableFuture<Optional<Lease>> lease =
            pawl.lock(name + "-" + counter).tryAcquireAsync(Duration.ofMinutes(4));
        cycles.add(
            lease.thenAccept(
                held -> {
                  try (Lease mine = held.orElseThrow()) {
                    counters[counter]++;
                    mine.ensureValid();
                  }
                }));
      }
      for (CompletableFuture<Void> cycle : cycles) {
        cycle.get(300, SECONDS);
      }
    }
    assertThat(counters).containsOnly(USERS / NAMES);
  }

  @ParameterizedTest
  @EnumSource
  void ofSixtyFourConcurrentFirstInsertsOneHoldsAndNoneFails(TestDatabase database)
      throws Exception {
    int clients = 8;
    int threads = 64;
    List<SqlStore> stores = new ArrayList<>();
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    try {
      for (int i = 0; i < clients; i++) {
        stores.add(database.open());
      }
      for (int round = 0; round < 5; round++) {
        String lock = name + "-first-" + round;
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Standing>> answers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          SqlStore store = stores.get(i % clients);
          Claim claim = Claims.claim(lock);
          answers.add(
              executor.submit(
                  () -> {
                    start.await();
                    return store.attempt(claim, standing -> {}).toCompletableFuture().get();
                  }));
        }
        start.countDown();
        int held = 0;
        for (Future<Standing> answer : answers) {
          held += answer.get(60, SECONDS) instanceof Standing.Held ? 1 : 0;
        }
        assertThat(held).isEqualTo(1);
        assertThat(Stored.show(stores.get(0), lock).waiters()).hasSize(threads - 1);
      }
    } finally {
      executor.shutdownNow();
      stores.forEach(SqlStore::close);
    }
  }

  /** However many of a batch's names nobody has used yet. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void ofTwoBatchesOfNewNamesOneGetsTheNameThatTheyShare(TestDatabase database) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      for (int round = 0; round < 10; round++) {
        String shared = name + "-shared-" + round;
        CyclicBarrier start = new CyclicBarrier(2);
        List<Future<Standing>> answers = new ArrayList<>();
        for (SqlStore store : List.of(here, there)) {
          String own = name + "-" + answers.size() + "-" + round + "-";
          answers.add(executor.submit(() -> takeAll(store, own, shared, start)));
        }
        int held = 0;
        for (Future<Standing> answer : answers) {
          held += answer.get(60, SECONDS) instanceof Standing.Held ? 1 : 0;
        }
        assertThat(held).isEqualTo(1);
      }
    } finally {
      executor.shutdownNow();
    }
  }

  /** Takes 600 new names in one batch; answers how the last of them stands. */
  private static Standing takeAll(SqlStore store, String own, String shared, CyclicBarrier start)
      throws Exception {
    List<CompletableFuture<Standing>> all = new ArrayList<>();
    start.await();
    store.together(
        () -> {
          for (int i = 0; i < 599; i++) {
            all.add(attempt(store, own + i));
          }
          all.add(attempt(store, shared));
        });
    for (CompletableFuture<Standing> each : all.subList(0, 599)) {
      assertThat(each.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
    return all.get(599).get(60, SECONDS);
  }

  private static CompletableFuture<Standing> attempt(SqlStore store, String lock) {
    return store.attempt(Claims.claim(lock), standing -> {}).toCompletableFuture();
  }

  /** Beyond the bound claims are told to ask again, and get in when there is room. */
  @ParameterizedTest
  @EnumSource
  void theLineIsBoundedAndWhoeverIsBeyondItAsksAgain(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      String lock = name + "-bound";
      List<Claim> claims = new ArrayList<>();
      List<CompletableFuture<Standing>> answers = new ArrayList<>();
      for (int i = 0; i < StoredLock.MAX_WAITERS + 2; i++) {
        Claim claim = Claims.claim(lock);
        claims.add(claim);
        answers.add(store.attempt(claim, standing -> {}).toCompletableFuture());
      }
      assertThat(answers.get(0).get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      Claim beyond = claims.get(claims.size() - 1);
      assertThat(answers.get(claims.size() - 1).get(60, SECONDS))
          .isInstanceOfSatisfying(
              Standing.Waiting.class,
              waiting -> assertThat(waiting.askAgain()).isLessThan(Duration.ofSeconds(1)));
      assertThat(Stored.waiters(store, lock)).hasSize(StoredLock.MAX_WAITERS);
      assertThat(Stored.waiters(store, lock)).noneMatch(view -> view.id().equals(beyond.id()));

      store.withdraw(claims.get(0)).toCompletableFuture().get(60, SECONDS);
      store.attempt(beyond, standing -> {}).toCompletableFuture().get(60, SECONDS);
      assertThat(Stored.waiters(store, lock)).anyMatch(view -> view.id().equals(beyond.id()));
    }
  }
}
