package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationConflictException;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.options.PawlOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A guess at how a counter's row stands may be wrong, and then changes nothing. */
class CounterGuessTest {

  private static final AtomicInteger names = new AtomicInteger();
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));

  private final String name = "guessed-" + names.incrementAndGet();

  /** What somebody else does to a counter of 10 without bounds, and what can be taken then. */
  private enum Meanwhile {
    TAKE(7) {
      @Override
      void happensTo(Counter counter, Connection connection) {
        counter.tryTake(3);
      }
    },
    RAISE_THE_FLOOR(4) {
      @Override
      void happensTo(Counter counter, Connection connection) {
        counter.update(Update.bounds(6, 100));
      }
    },
    RESERVE(8) {
      @Override
      void happensTo(Counter counter, Connection connection) {
        counter.reserve(2, Duration.ofMinutes(5), OperationId.of("cart"));
      }
    },
    EDIT_THE_VALUE(2) {
      @Override
      void happensTo(Counter counter, Connection connection) throws SQLException {
        edit(connection, "value = 2", counter.name());
      }
    },
    EDIT_THE_FLOOR(1) {
      @Override
      void happensTo(Counter counter, Connection connection) throws SQLException {
        edit(connection, "floor = 9", counter.name());
      }
    };

    private final long left;

    Meanwhile(long left) {
      this.left = left;
    }

    abstract void happensTo(Counter counter, Connection connection) throws SQLException;

    private static void edit(Connection connection, String set, String counter)
        throws SQLException {
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate(
            "UPDATE pawl_counter SET " + set + " WHERE name = '" + counter + "'");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_whatSomebodyElseDidMeanwhileCounts(TestDatabase database) throws Exception {
    for (Meanwhile meanwhile : Meanwhile.values()) {
      String counter = name + meanwhile;
      try (Pawl here = Pawl.connect(database.url(), PATIENT);
          Pawl there = Pawl.connect(database.url(), PATIENT);
          Connection connection = database.connect()) {
        here.counter(counter).update(Update.set(11));
        here.counter(counter).tryTake(1);
        meanwhile.happensTo(there.counter(counter), connection);

        assertThat(here.counter(counter).tryTake(meanwhile.left + 1).isApplied())
            .as(meanwhile + ": one more than there is")
            .isFalse();
        assertThat(here.counter(counter).tryTake(meanwhile.left).isApplied())
            .as(meanwhile + ": all that there is")
            .isTrue();
        assertThat(there.counter(counter).tryTake(1).isApplied()).as(meanwhile.name()).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_whatWasForgottenMeanwhileStaysRefused(TestDatabase database)
      throws Exception {
    try (Pawl here = Pawl.connect(database.url(), PATIENT);
        Pawl there = Pawl.connect(database.url(), PATIENT)) {
      OperationId old = OperationId.of("old", Instant.now().minus(Duration.ofDays(2)));
      here.counter(name).update(Update.set(10));
      assertThat(here.counter(name).tryTake(1, old).isApplied()).isTrue();
      there.counter(name).ledger().prune(Instant.now().minus(Duration.ofDays(1)));

      assertThatThrownBy(() -> here.counter(name).tryTake(1, old)).hasMessageContaining("old");
      assertThat(here.counter(name).get()).isEqualTo(9);
      Balance.assertOf(database, name);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_anIdIsFoundThoughNobodyLooksForIt(TestDatabase database) throws Exception {
    try (Pawl here = Pawl.connect(database.url(), PATIENT)) {
      Counter counter = here.counter(name);
      counter.update(Update.set(10));
      assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));
      assertThat(counter.tryTake(1, OperationId.of("other"))).isEqualTo(new Change.Applied(6));

      assertThat(counter.tryTake(3, OperationId.of("order"))).isEqualTo(new Change.Applied(7));
      assertThatThrownBy(() -> counter.tryTake(2, OperationId.of("order")))
          .isInstanceOf(OperationConflictException.class);
      assertThat(counter.get()).isEqualTo(6);
      Balance.assertOf(database, name);
    }
  }

  /** Two clients, so that some guesses are wrong. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p7_conservation_everyTakeOfTwoClientsIsAppliedOnce(TestDatabase database) throws Exception {
    int each = 1_000;
    try (Pawl here = Pawl.connect(database.url(), PATIENT);
        Pawl there = Pawl.connect(database.url(), PATIENT)) {
      here.counter(name).update(Update.set(5 * each));
      List<CompletableFuture<Change>> ours = new ArrayList<>();
      List<CompletableFuture<Change>> theirs = new ArrayList<>();
      CompletableFuture<Void> sending =
          CompletableFuture.runAsync(() -> send(there, each, "theirs-", theirs));
      send(here, each, "ours-", ours);
      sending.get(60, SECONDS);
      for (CompletableFuture<Change> take : ours) {
        assertThat(take.get(60, SECONDS).isApplied()).isTrue();
      }
      for (CompletableFuture<Change> take : theirs) {
        assertThat(take.get(60, SECONDS).isApplied()).isTrue();
      }

      assertThat(here.counter(name).get()).isEqualTo(3L * each);
      assertThat(there.counter(name).ledger().history(3 * each)).hasSize(2 * each + 1);
      Balance.assertOf(database, name);
    }
  }

  private void send(Pawl pawl, int takes, String prefix, List<CompletableFuture<Change>> answers) {
    for (int i = 0; i < takes; i++) {
      answers.add(pawl.counter(name).async().tryTake(1, OperationId.of(prefix + i)));
    }
  }
}
