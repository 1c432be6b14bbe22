package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Update;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.servers.ServerProcess;
import io.pawl.sql.dialect.Dialect;
import io.pawl.sql.dialect.SqlStates;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A server that is killed, that is in somebody else's hands, or that says no. */
class ServerFaultsTest {

  /** The common pool has a single thread on two cores, on which one task would wait for another. */
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static final AtomicInteger names = new AtomicInteger();
  private static final PawlOptions PATIENT = PawlOptions.defaults().patience(Duration.ofMinutes(1));
  private static final LockOptions STEADY = LockOptions.defaults().lease(Duration.ofMinutes(5));

  private final String name = "server-" + names.incrementAndGet();

  /** With the durability that the server has by default. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whatWasAcknowledgedSurvivesAServerThatIsKilled(TestDatabase database) throws Exception {
    try (ServerProcess server = database.startServer();
        Pawl pawl = Pawl.connect(TestDatabase.withUser(TestDatabase.urlOf(server)), PATIENT)) {
      Lease held = pawl.lock("held", STEADY).acquire();
      pawl.lock("free").acquire().close();
      long last = pawl.lock("free").acquire().token();
      CompletableFuture<Optional<Lease>> waiting =
          pawl.lock("held", STEADY.strictOrder()).tryAcquireAsync(Duration.ofMinutes(1));

      server.kill();
      server.restart();

      assertThat(pawl.inspect("held").holders()).hasSize(1);
      assertThat(held.isValid()).isTrue();
      held.close();
      assertThat(waiting.get(60, SECONDS).orElseThrow().token()).isGreaterThan(held.token());
      try (Pawl other = Pawl.connect(TestDatabase.withUser(TestDatabase.urlOf(server)), PATIENT)) {
        assertThat(other.inspect("free").holders()).hasSize(1);
        try (SqlStore store = openAt(server)) {
          store.evict("free", last).toCompletableFuture().get(60, SECONDS);
        }
        assertThat(other.lock("free").acquire().token()).isGreaterThan(last);
      }
    }
  }

  private static SqlStore openAt(ServerProcess server) {
    return (SqlStore)
        io.pawl.spi.Stores.open(
            io.pawl.spi.StoreUrl.parse(TestDatabase.withUser(TestDatabase.urlOf(server))));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void connectionsThatAnOperatorKillsAreReplacedUnseen(TestDatabase database) throws Exception {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    try (Pawl pawl = Pawl.connect(database.url(), impatient)) {
      for (int i = 0; i < 3; i++) {
        pawl.lock(name).acquire().close();
        killAllOthers(database);
      }
      pawl.lock(name).acquire().close();
    }
  }

  private static void killAllOthers(TestDatabase database) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      boolean postgres = database == TestDatabase.POSTGRES;
      String others =
          postgres
              ? "SELECT pid FROM pg_stat_activity"
                  + " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
              : "SELECT id FROM information_schema.processlist"
                  + " WHERE id <> connection_id() AND user = '"
                  + TestDatabase.USER
                  + "'";
      List<Long> ids = new ArrayList<>();
      try (ResultSet rows = statement.executeQuery(others)) {
        while (rows.next()) {
          ids.add(rows.getLong(1));
        }
      }
      for (long id : ids) {
        try {
          statement.execute(postgres ? "SELECT pg_terminate_backend(" + id + ")" : "KILL " + id);
        } catch (SQLException e) {
          assertThat(e.getErrorCode()).as("no such thread: it has gone by itself").isEqualTo(1094);
        }
      }
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                try (ResultSet rows = statement.executeQuery(others)) {
                  return !rows.next();
                }
              });
    }
  }

  /** MySQL's 1205 rolls back the statement only; PostgreSQL's 55P03 aborts the transaction. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aRowLockThatOutlastsTheWaitIsTriedAgainAndNeverSurfaces(TestDatabase database)
      throws Exception {
    try (Pawl pawl = Pawl.connect(database.url(), PATIENT);
        Connection connection = database.connect()) {
      long last = pawl.lock(name).acquire().token();
      lockRow(connection, name);
      CompletableFuture<Optional<Lease>> lease =
          pawl.lock(name, STEADY.strictOrder()).tryAcquireAsync(Duration.ofMinutes(1));
      try (SqlStore store = database.open()) {
        assertThatThrownBy(() -> store.evict(name, last).toCompletableFuture().get(60, SECONDS))
            .hasCauseInstanceOf(StoreUnavailableException.class);
        connection.rollback();
        assertThat(store.evict(name, last).toCompletableFuture().get(60, SECONDS)).isTrue();
      }
      assertThat(lease.get(60, SECONDS).orElseThrow().token()).isGreaterThan(last);
    }
  }

  private static void lockRow(Connection connection, String lock) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement("SELECT name FROM pawl_lock WHERE name = ? FOR UPDATE")) {
      select.setString(1, lock);
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).isTrue();
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
          SqlStore store = database.open();
          Connection connection = database.connect()) {
        pawl.lock(first, STEADY).acquire();
        pawl.lock(second, STEADY).acquire();
        lockRow(connection, second);
        CompletableFuture<?> both =
            CompletableFuture.supplyAsync(
                () ->
                    store
                        .renew(List.of(Claims.claim(first), Claims.claim(second)))
                        .toCompletableFuture()
                        .join(),
                OWN_THREAD);
        CompletableFuture<Void> crossing =
            CompletableFuture.runAsync(() -> lockRowIfNotTheVictim(connection, first), OWN_THREAD);
        crossing.get(60, SECONDS);
        connection.rollback();
        both.get(60, SECONDS);
      }
    }
  }

  private static void lockRowIfNotTheVictim(Connection connection, String lock) {
    try {
      lockRow(connection, lock);
    } catch (SQLException e) {
      assertThat(SqlStates.classify(e)).isEqualTo(Dialect.Failure.CONFLICT);
    }
  }

  /** As in a failover. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aServerThatTurnsReadOnlyForAWhileIsWaitedFor(TestDatabase database) throws Exception {
    CountDownLatch failed = new CountDownLatch(3);
    LockObserver observer =
        new LockObserver() {
          @Override
          public void storeFailed(String lock, StoreException cause) {
            failed.countDown();
          }
        };
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      String user = "writer" + names.get();
      boolean postgres = database == TestDatabase.POSTGRES;
      try (Pawl opened = Pawl.connect(database.url())) {
        opened.lock(name).acquire().close();
        opened.counter(name + "-counter").update(Update.set(0));
      }
      statement.execute(
          "CREATE USER " + user + (postgres ? " PASSWORD 'writer'" : " IDENTIFIED BY 'writer'"));
      String tables =
          "pawl_lock, pawl_waiter, pawl_schema, pawl_counter, pawl_ledger, pawl_forgotten";
      statement.execute(
          "GRANT SELECT, INSERT, UPDATE, DELETE ON "
              + (postgres ? tables : "pawl.*")
              + " TO "
              + user);
      String url = TestDatabase.withUser(database.baseUrl(), user, "writer");
      try (Pawl patient = Pawl.connect(url, PATIENT.observer(observer));
          Pawl hasty = Pawl.connect(url, impatient)) {
        Lease held = hasty.lock(name + "-held", STEADY).acquire();
        patient.lock(name).acquire().close();
        setReadOnly(database, statement, true);
        try {
          assertThatThrownBy(() -> hasty.lock(name).tryAcquire())
              .isInstanceOfSatisfying(
                  StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isTrue())
              .hasMessageContaining("read");
          assertThatThrownBy(() -> hasty.counter(name + "-counter").add(1))
              .isInstanceOf(StoreUnavailableException.class);
          CompletableFuture<Optional<Lease>> waits =
              patient.lock(name).tryAcquireAsync(Duration.ofMinutes(1));
          assertThat(failed.await(60, SECONDS)).isTrue();
          setReadOnly(database, statement, false);
          assertThat(waits.get(60, SECONDS)).isPresent();
          assertThat(held.isValid()).isTrue();
        } finally {
          setReadOnly(database, statement, false);
        }
      }
    }
  }

  /** Also for sessions that are open. */
  private static void setReadOnly(TestDatabase database, Statement statement, boolean readOnly)
      throws SQLException {
    if (database != TestDatabase.POSTGRES) {
      statement.execute("SET GLOBAL read_only = " + (readOnly ? 1 : 0));
      return;
    }
    statement.execute("SET default_transaction_read_only = off");
    statement.execute(
        readOnly
            ? "ALTER SYSTEM SET default_transaction_read_only = on"
            : "ALTER SYSTEM RESET default_transaction_read_only");
    statement.execute("SELECT pg_reload_conf()");
    try (Connection another = database.connect();
        Statement onlooker = another.createStatement()) {
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> {
                try (ResultSet row = onlooker.executeQuery("SHOW default_transaction_read_only")) {
                  row.next();
                  return row.getString(1).equals(readOnly ? "on" : "off");
                }
              });
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aReadOnlyServerIsAConfigurationError(TestDatabase database) throws Exception {
    try (Pawl opened = Pawl.connect(database.url());
        Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      opened.lock(name).acquire().close();
      String user = "reader" + names.get();
      if (database == TestDatabase.POSTGRES) {
        statement.execute("CREATE USER " + user + " PASSWORD 'reader'");
        statement.execute(
            "GRANT SELECT, INSERT, UPDATE ON pawl_lock, pawl_waiter, pawl_schema, pawl_forgotten TO"
                + " "
                + user);
        statement.execute("ALTER USER " + user + " SET default_transaction_read_only = on");
      } else {
        statement.execute("CREATE USER " + user + " IDENTIFIED BY 'reader'");
        statement.execute("GRANT SELECT, INSERT, UPDATE ON pawl.* TO " + user);
        statement.execute("SET GLOBAL read_only = 1");
      }
      try (Pawl reader = Pawl.connect(TestDatabase.withUser(database.baseUrl(), user, "reader"))) {
        assertThatThrownBy(() -> reader.lock(name).tryAcquire())
            .isInstanceOf(StoreConfigurationException.class)
            .hasMessageContaining("read");
      } finally {
        if (database != TestDatabase.POSTGRES) {
          statement.execute("SET GLOBAL read_only = 0");
        }
      }
    }
  }

  /** As during maintenance. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "POSTGRES"})
  void aDatabaseThatTakesNoConnectionsForAWhileIsUnavailable(TestDatabase database)
      throws Exception {
    boolean postgres = database == TestDatabase.POSTGRES;
    String user = "offline" + names.get();
    String operators = database.baseUrl();
    try (Connection connection =
            DriverManager.getConnection(
                postgres ? operators.replaceFirst("/[^/]+$", "/template1") : operators,
                TestDatabase.USER,
                TestDatabase.PASSWORD);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE USER " + user + (postgres ? " PASSWORD 'away'" : " IDENTIFIED BY 'away'"));
      if (!postgres) {
        statement.execute("GRANT ALL ON pawl.* TO " + user);
      }
      String takesNone =
          postgres ? "ALTER DATABASE postgres ALLOW_CONNECTIONS " : "SET GLOBAL offline_mode = ";
      statement.execute(takesNone + (postgres ? "false" : "ON"));
      try {
        assertThatThrownBy(
                () -> Pawl.connect(TestDatabase.withUser(database.baseUrl(), user, "away")))
            .isInstanceOf(StoreUnavailableException.class);
      } finally {
        statement.execute(takesNone + (postgres ? "true" : "OFF"));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "POSTGRES"})
  void aMissingPasswordIsDenied(TestDatabase database) {
    assertThatThrownBy(() -> Pawl.connect(database.baseUrl() + "?user=" + TestDatabase.USER))
        .isInstanceOf(StoreDeniedException.class);
  }
}
