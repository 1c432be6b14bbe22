package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Update;
import io.pawl.options.PawlOptions;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.ServerProcess;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.SqlStates;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Counters on a server that is killed, or where somebody locks their rows in another order. */
class CounterServerFaultsTest {

  private static final AtomicInteger names = new AtomicInteger();
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private final String name = "stormy-" + names.incrementAndGet();

  /** With the durability that the server has by default. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "POSTGRES"})
  void p7_conservation_takesOutliveAServerThatIsKilledInTheMiddle(TestDatabase database)
      throws Exception {
    try (ServerProcess server = database.startServer();
        Pawl pawl = Pawl.connect(TestDatabase.withUser(TestDatabase.urlOf(server)), PATIENT)) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(1_000));
      assertThat(counter.tryTake(1, OperationId.of("first")).isApplied()).isTrue();
      List<CompletableFuture<Change>> takes = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        takes.add(counter.async().tryTake(1, OperationId.of("buyer" + i)));
      }
      takes.get(0).get(60, SECONDS);

      server.kill();
      server.restart();

      for (CompletableFuture<Change> take : takes) {
        assertThat(take.get(60, SECONDS).isApplied()).isTrue();
      }
      assertThat(counter.get()).isEqualTo(799);
      assertThat(counter.ledger().history(1_000)).hasSize(202);
      try (Connection connection =
          DriverManager.getConnection(
              TestDatabase.urlOf(server), MySqlServer.USER, MySqlServer.PASSWORD)) {
        assertThat(Balance.isOf(connection, name)).isTrue();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aDeadlockNeverSurfaces(TestDatabase database) throws Exception {
    for (int round = 0; round < 3; round++) {
      String first = name + "-a" + round;
      String second = name + "-b" + round;
      try (Pawl pawl = Pawl.connect(database.url(), PATIENT);
          Connection connection = database.connect()) {
        pawl.counter(first).update(Update.set(5));
        pawl.counter(second).update(Update.set(5));
        lockRow(connection, second);
        CompletableFuture<Boolean> basket =
            CompletableFuture.supplyAsync(
                () ->
                    pawl.tryTakeAll(Map.of(first, 2L, second, 2L), OperationId.of("basket"))
                        .isApplied(),
                OWN_THREAD);
        CompletableFuture<Void> crossing =
            CompletableFuture.runAsync(() -> lockRowIfNotTheVictim(connection, first), OWN_THREAD);
        crossing.get(60, SECONDS);
        connection.rollback();

        assertThat(basket.get(60, SECONDS)).isTrue();
        assertThat(pawl.counter(first).get()).isEqualTo(3);
        assertThat(pawl.counter(second).get()).isEqualTo(3);
        Balance.assertOf(database, first);
        Balance.assertOf(database, second);
      }
    }
  }

  private static void lockRowIfNotTheVictim(Connection connection, String counter) {
    try {
      lockRow(connection, counter);
    } catch (SQLException e) {
      assertThat(SqlStates.classify(e)).isEqualTo(Dialect.Failure.CONFLICT);
    }
  }

  private static void lockRow(Connection connection, String counter) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name FROM pawl_counter WHERE name = ? FOR UPDATE")) {
      select.setString(1, counter);
      select.executeQuery().close();
    }
  }
}
