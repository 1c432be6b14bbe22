package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome;
import io.pawl.counter.Update;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counters on a database that is out of reach, locked, or looked at meanwhile. */
class CounterFaultsTest {

  private static final AtomicInteger names = new AtomicInteger();
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private final String name = "counted-" + names.incrementAndGet();

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_aConnectionLostAtCommitIsResolvedByTheOperationsId(TestDatabase database)
      throws Exception {
    for (AfterDrop then : AfterDrop.values()) {
      try (FaultProxy proxy = FaultProxy.before(database.server());
          Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT);
          Pawl other = Pawl.connect(database.url())) {
        Counter counter = pawl.counter(name + then);
        counter.update(Update.set(10));
        proxy.dropCommits(1, then);
        assertThat(counter.tryTake(3)).isEqualTo(new Change.Applied(7));
        proxy.dropCommits(1, then);
        assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(4));
        proxy.dropCommits(1, then);
        assertThat(counter.reserve(4, Duration.ofMinutes(5), OperationId.of("held")).value())
            .isZero();
        assertThat(proxy.droppedReplies()).isEqualTo(3);

        Counter elsewhere = other.counter(name + then);
        assertThat(elsewhere.get()).isZero();
        assertThat(elsewhere.outcome(OperationId.of("order")).status())
            .isEqualTo(Outcome.Status.APPLIED);
        assertThat(elsewhere.ledger().history(10)).hasSize(4);
        Balance.assertOf(database, name + then);
      }
    }
  }

  /** Without a binary log, others see what is committed before it is in a log. */
  @Test
  void p7_conservation_whatACrashCouldUndoIsToldOnceALaterCommitHasKeptIt() throws Exception {
    TestDatabase database = TestDatabase.MARIADB;
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT)) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(10));
      assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));

      proxy.dropReplies(1, AfterDrop.RESET, "last_line + 1");

      assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));
      assertThat(proxy.droppedReplies()).isEqualTo(1);
      Balance.assertOf(database, name);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aRowThatSomebodyLocksIsWaitedFor(TestDatabase database) throws Exception {
    try (Pawl pawl = Pawl.connect(database.url(), PATIENT);
        Connection connection = database.connect()) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(10));
      lock(connection, name);
      CompletableFuture<Change> take = counter.async().tryTake(3, OperationId.of("order"));
      connection.rollback();

      assertThat(take.get(60, TimeUnit.SECONDS)).isEqualTo(new Change.Applied(7));
    }
  }

  /** All that is asserted of the others is so before the row is set free. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowStallsNoOtherCounterOfTheClientAndSaysSo(TestDatabase database) throws Exception {
    try (Pawl pawl = Pawl.connect(database.url(), PawlOptions.defaults().patience(Duration.ZERO));
        Connection somebody = database.connect()) {
      pawl.counter(name).update(Update.set(10));
      lock(somebody, name);
      CompletableFuture<Change> stuck =
          pawl.counter(name).async().tryTake(3, OperationId.of("order"));
      CompletableFuture<?> basket =
          CompletableFuture.supplyAsync(
              () -> pawl.tryTakeAll(Map.of(name, 1L, name + "-1", 1L), OperationId.of("basket")),
              OWN_THREAD);
      for (int i = 0; i < 20; i++) {
        Counter other = pawl.counter(name + "-" + i % 10);
        other.add(2);
        assertThat(other.get()).isPositive();
      }
      for (CompletableFuture<?> blocked : List.of(stuck, basket)) {
        assertThatThrownBy(() -> blocked.get(60, TimeUnit.SECONDS))
            .cause()
            .as("p7_conservation: certainly nothing was changed, so nothing is unknown")
            .isInstanceOf(StoreUnavailableException.class)
            .hasMessageContaining(name)
            .hasMessageContaining("pawl_counter locked");
      }

      somebody.rollback();
      assertThat(pawl.counter(name).tryTake(4)).isEqualTo(new Change.Applied(6));
      assertThat(pawl.counter(name + "-1").get()).isEqualTo(4);
    }
  }

  /** Once by a guess, and not again for the read that follows, nor for those that come later. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theBlockedRowOfAHotCounterIsWaitedForOnce(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Pawl pawl = Pawl.over(store);
        Connection somebody = database.connect()) {
      Counter hot = pawl.counter(name);
      for (int i = 0; i < 3; i++) {
        hot.add(1);
      }
      lock(somebody, name);
      long waits = store.figures().get("counters.repeated");

      for (long i = 1; i <= 2; i++) {
        hot.async().tryTake(1);
        awaitPutOff(store, i);
        assertThat(store.figures()).containsEntry("counters.repeated", waits + 1);
      }
    }
  }

  /** It is known from before, so that its next row could be guessed. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aHotCounterThatIsKnownToBeBlockedIsNotGuessed(TestDatabase database) throws Exception {
    Map<String, Long> basket = Map.of("a-" + name, 1L, name, 1L);
    try (SqlStore store = database.open();
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(Duration.ZERO));
        Connection somebody = database.connect()) {
      pawl.counter("a-" + name).add(1);
      Counter hot = pawl.counter(name);
      for (int i = 0; i < 3; i++) {
        hot.add(1);
      }
      lock(somebody, name);
      long waits = store.figures().get("counters.repeated");

      assertThatThrownBy(() -> pawl.tryTakeAll(basket, OperationId.of("basket")))
          .hasMessageContaining(name);
      hot.async().tryTake(1);
      awaitPutOff(store, 2);
      assertThat(store.figures()).containsEntry("counters.repeated", waits + 1);
    }
  }

  private static void awaitPutOff(SqlStore store, long operations) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> store.figures().get("counters.putOff") >= operations);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_theLedgerBalancesAtEveryMoment(TestDatabase database) throws Exception {
    try (Pawl pawl = Pawl.connect(database.url(), PATIENT);
        Pawl other = Pawl.connect(database.url(), PATIENT)) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(500));
      AtomicBoolean done = new AtomicBoolean();
      CompletableFuture<Integer> looking =
          CompletableFuture.supplyAsync(() -> lookUntil(database, done), OWN_THREAD);
      CompletableFuture<?>[] changes = new CompletableFuture<?>[600];
      for (int i = 0; i < changes.length; i++) {
        Counter mine = i % 2 == 0 ? counter : other.counter(name);
        OperationId id = OperationId.of("o" + i);
        changes[i] =
            switch (i % 4) {
              case 0, 1 -> mine.async().tryTake(1 + i % 3, id);
              case 2 -> mine.async().reserve(1, Duration.ofMillis(1 + i), id);
              default -> mine.async().add(1, id);
            };
      }
      CompletableFuture.allOf(changes).get(100, TimeUnit.SECONDS);
      done.set(true);

      assertThat(looking.get(60, TimeUnit.SECONDS)).isPositive();
      Balance.assertOf(database, name);
    }
  }

  private int lookUntil(TestDatabase database, AtomicBoolean done) {
    int looks = 0;
    try (Connection connection = database.connect()) {
      do {
        assertThat(Balance.isOf(connection, name)).isTrue();
        looks++;
      } while (!done.get());
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
    return looks;
  }

  private static void lock(Connection connection, String counter) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name FROM pawl_counter WHERE name = ? FOR UPDATE")) {
      select.setString(1, counter);
      select.executeQuery().close();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_aBasketLostAtCommitIsTakenOnce(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.urlThrough(proxy), PATIENT)) {
      pawl.counter(name + "a").update(Update.set(5));
      pawl.counter(name + "b").update(Update.set(5));
      proxy.dropCommits(1, AfterDrop.RESET);

      assertThat(
              pawl.tryTakeAll(Map.of(name + "a", 2L, name + "b", 3L), OperationId.of("basket"))
                  .isApplied())
          .isTrue();

      assertThat(pawl.counter(name + "a").get()).isEqualTo(3);
      assertThat(pawl.counter(name + "b").get()).isEqualTo(2);
    }
  }
}
