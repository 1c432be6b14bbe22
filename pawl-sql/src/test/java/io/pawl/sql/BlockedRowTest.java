package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ServerProcess;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.Table;
import io.pawl.sql.transaction.Session;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Somebody has a transaction open in which one row of ours is locked. */
class BlockedRowTest {

  private static final int OTHERS = 10;

  private static final PawlOptions IMPATIENT = PawlOptions.defaults().patience(Duration.ZERO);

  private static final AtomicInteger names = new AtomicInteger();

  private final String stuck = "blocked-" + names.incrementAndGet();

  private static Standing attempt(SqlStore store, Claim claim) throws Exception {
    return store.attempt(claim, standing -> {}).toCompletableFuture().get(60, SECONDS);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowStallsNoOtherLockOfTheClientAndSaysSo(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      assertOnlyTheBlockedOneIsStalled(database, store);
    }
  }

  /** So it neither locks the row nor writes it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aWaiterIsToldHowItStandsThoughSomebodyKeepsTheRow(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Claim waiting = Claims.claim(stuck);
      assertThat(attempt(store, held)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(store, waiting)).isInstanceOf(Standing.Waiting.class);
      lockRow(somebody, stuck);

      assertThat(renew(store, List.of(waiting)).get(waiting.id()))
          .isInstanceOf(Standing.Waiting.class);

      somebody.rollback();
      store.withdraw(held).toCompletableFuture().get(60, SECONDS);
      assertThat(renew(store, List.of(waiting)).get(waiting.id()))
          .isInstanceOf(Standing.Held.class);
    }
  }

  /** Where it knows that the lock is busy. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aClaimIsTurnedAwayThoughSomebodyKeepsTheRow(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    try (SqlStore store = opened(database.url() + polling);
        Connection somebody = database.connect()) {
      assertThat(attempt(store, Claims.claim(stuck))).isInstanceOf(Standing.Held.class);
      lockRow(somebody, stuck);

      assertThat(attempt(store, Claims.claim(stuck).as(Mode.EXCLUSIVE))).isEqualTo(Standing.GONE);
    }
  }

  /** Whose connections would wait for longer than we wait for an answer. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowStallsNoOtherLockOverAPoolEither(TestDatabase database) throws Exception {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      pool.setMaximumPoolSize(1);
      try (SqlStore store = SqlStore.over(pool)) {
        assertOnlyTheBlockedOneIsStalled(database, store);
      }
    }
  }

  @Test
  void aRolesOwnTimeOutsDoNotEndWhatWaitsItsTurn() throws Exception {
    String impatient = "&options=-c%20statement_timeout=200ms%20-c%20lock_timeout=100ms";
    String hasty = isPostgres17() ? "%20-c%20transaction_timeout=300ms" : "";
    try (SqlStore store = opened(TestDatabase.POSTGRES.url() + impatient + hasty)) {
      assertOnlyTheBlockedOneIsStalled(TestDatabase.POSTGRES, store);
    }
  }

  /** By which others could not be served, since no row would be suspected. */
  @ParameterizedTest
  @CsvSource({"MYSQL, max_execution_time=200", "MARIADB, max_statement_time=0.2"})
  void aServersOwnTimeOutDoesNotEndWhatWaitsItsTurn(TestDatabase database, String limit)
      throws Exception {
    try (SqlStore store = opened(database.url() + "&sessionVariables=" + limit)) {
      assertOnlyTheBlockedOneIsStalled(database, store);
    }
  }

  @ParameterizedTest
  @CsvSource({"MYSQL, max_execution_time=200", "MARIADB, max_statement_time=0.2"})
  void aPoolsOwnTimeOutDoesNotEndItEitherAndStays(TestDatabase database, String limit)
      throws Exception {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      pool.setConnectionInitSql("SET SESSION " + limit);
      pool.setMaximumPoolSize(1);
      try (SqlStore store = SqlStore.over(pool)) {
        assertOnlyTheBlockedOneIsStalled(database, store);
      }
      String[] set = limit.split("=");
      try (Connection returned = pool.getConnection();
          Statement statement = returned.createStatement();
          ResultSet setting = statement.executeQuery("SELECT @@" + set[0])) {
        assertThat(setting.next()).isTrue();
        assertThat(setting.getDouble(1)).isEqualTo(Double.parseDouble(set[1]));
      }
    }
  }

  @Test
  void aStatementThatAnAdministratorCancelsIsRunAgain() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (SqlStore store = TestDatabase.POSTGRES.open();
        Connection somebody = TestDatabase.POSTGRES.connect();
        Connection administrator = TestDatabase.POSTGRES.connect()) {
      Claim first = Claims.claim(stuck);
      attempt(store, first);
      store.withdraw(first).toCompletableFuture().get(60, SECONDS);
      lockRow(somebody, stuck);

      Future<Standing> asked = threads.submit(() -> attempt(store, Claims.claim(stuck)));
      await().until(() -> cancelled(administrator) > 0);
      somebody.rollback();

      assertThat(asked.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    } finally {
      threads.shutdownNow();
    }
  }

  /** How many statements that wait for a row were cancelled. */
  private static boolean isPostgres17() throws SQLException {
    try (Connection connection = TestDatabase.POSTGRES.connect()) {
      return connection.getMetaData().getDatabaseMajorVersion() >= 17;
    }
  }

  private static int cancelled(Connection administrator) throws SQLException {
    try (Statement statement = administrator.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
                    + " WHERE wait_event_type = 'Lock' AND query LIKE '%pawl_lock%'"
                    + " AND datname = current_database()")) {
      row.next();
      return row.getInt(1);
    }
  }

  private static SqlStore opened(String url) {
    return (SqlStore) Stores.open(StoreUrl.parse(url));
  }

  /** All that is asserted of the others is so before the row is set free. */
  private void assertOnlyTheBlockedOneIsStalled(TestDatabase database, SqlStore store)
      throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try (Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Standing standing = attempt(store, held);
      lockRow(somebody, stuck);

      Claim unknown = Claims.claim(stuck);
      Future<?> asked =
          threads.submit(() -> store.withdraw(unknown).toCompletableFuture().get(60, SECONDS));
      List<Future<Standing>> others = new ArrayList<>();
      List<Claim> claims = new ArrayList<>(List.of(held));
      for (int i = 0; i < OTHERS; i++) {
        Claim claim = Claims.claim(stuck + "-" + i);
        claims.add(claim);
        others.add(threads.submit(() -> attempt(store, claim)));
      }
      for (Future<Standing> other : others) {
        assertThat(other.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
      assertThat(renew(store, claims))
          .as("renewed together, the blocked one left out")
          .hasSize(OTHERS)
          .doesNotContainKey(held.id())
          .allSatisfy((id, other) -> assertThat(other).isInstanceOf(Standing.Held.class));
      assertThatThrownBy(() -> asked.get(60, SECONDS))
          .hasRootCauseInstanceOf(StoreUnavailableException.class)
          .rootCause()
          .hasMessageContaining(stuck)
          .hasMessageContaining("locked");
      for (Claim claim : claims.subList(1, claims.size())) {
        store.withdraw(claim).toCompletableFuture().get(60, SECONDS);
      }

      Future<Standing> again = threads.submit(() -> attempt(store, held));
      somebody.rollback();
      assertThat(again.get(60, SECONDS)).as("still its own").isEqualTo(standing);
      assertThat(renew(store, claims)).containsEntry(held.id(), standing);
      assertCounted(store.figures());
    } finally {
      threads.shutdownNow();
    }
  }

  /** It is locked by nobody before it is deleted. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBlockedRowOfAWaiterStallsNoOtherLock(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection somebody = database.connect()) {
      Claim held = Claims.claim(stuck);
      Claim waiting = Claims.claim(stuck);
      assertThat(attempt(store, held)).isInstanceOf(Standing.Held.class);
      assertThat(attempt(store, waiting)).isInstanceOf(Standing.Waiting.class);
      lockWaiters(somebody, stuck);

      CompletableFuture<Void> withdrawn = new CompletableFuture<>();
      List<CompletableFuture<Standing>> others = new ArrayList<>();
      store.together(
          () -> {
            store.withdraw(held).whenComplete((nothing, failure) -> end(withdrawn, failure));
            for (int i = 0; i < OTHERS; i++) {
              CompletableFuture<Standing> answer = new CompletableFuture<>();
              others.add(answer);
              ask(store, Claims.claim(stuck + "-" + i), answer);
            }
          });
      for (CompletableFuture<Standing> other : others) {
        assertThat(other.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
      assertThatThrownBy(() -> withdrawn.get(60, SECONDS))
          .hasRootCauseInstanceOf(StoreUnavailableException.class)
          .rootCause()
          .hasMessageContaining(stuck)
          .hasMessageContaining("pawl_waiter");

      somebody.rollback();
      store.withdraw(held).toCompletableFuture().get(60, SECONDS);
      assertThat(renew(store, List.of(waiting)).get(waiting.id()))
          .isInstanceOf(Standing.Held.class);
    }
  }

  private static void end(CompletableFuture<Void> call, Throwable failure) {
    if (failure == null) {
      call.complete(null);
    } else {
      call.completeExceptionally(failure);
    }
  }

  private static void lockWaiters(Connection connection, String lock) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT position FROM pawl_waiter WHERE lock_name = ? FOR UPDATE")) {
      select.setString(1, lock);
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).isTrue();
      }
    }
  }

  /** No read shows it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aRowThatSomebodyIsMakingStallsNoOtherLock(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection somebody = database.connect()) {
      makeLock(somebody, stuck);

      Map<Claim, CompletableFuture<Standing>> others = new LinkedHashMap<>();
      CompletableFuture<Standing> asked = new CompletableFuture<>();
      store.together(
          () -> {
            ask(store, Claims.claim(stuck), asked);
            for (int i = 0; i < OTHERS; i++) {
              Claim other = Claims.claim(stuck + "-" + i);
              CompletableFuture<Standing> answer = new CompletableFuture<>();
              others.put(other, answer);
              ask(store, other, answer);
            }
          });
      for (CompletableFuture<Standing> other : others.values()) {
        assertThat(other.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
      assertThatThrownBy(() -> asked.get(60, SECONDS))
          .hasRootCauseInstanceOf(StoreUnavailableException.class)
          .rootCause()
          .hasMessageContaining(stuck)
          .hasMessageContaining("for 5 s another transaction");
      for (Claim other : others.keySet()) {
        store.withdraw(other).toCompletableFuture().get(60, SECONDS);
      }

      CompletableFuture<Standing> again = new CompletableFuture<>();
      ask(store, Claims.claim(stuck), again);
      somebody.rollback();
      assertThat(again.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  /** What is waited for there does not tell that somebody makes the new one. */
  @Test
  void aNewLockIsMadeThoughARowBesideItIsAlwaysBusy() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    String busy = stuck + "-busy";
    try (SqlStore store = TestDatabase.POSTGRES.open();
        Connection somebody = TestDatabase.POSTGRES.connect()) {
      store.withdraw(Claims.claim(busy)).toCompletableFuture().get(60, SECONDS);
      makeLock(somebody, stuck);
      List<Future<?>> crowd = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        crowd.add(threads.submit(() -> keepBusy(TestDatabase.POSTGRES, busy, done)));
        crowd.add(threads.submit(() -> keepAsking(store, busy, done)));
      }
      CompletableFuture<Standing> asked = new CompletableFuture<>();
      CompletableFuture<Standing> fresh = new CompletableFuture<>();
      store.together(
          () -> {
            ask(store, Claims.claim(stuck), asked);
            ask(store, Claims.claim(stuck + "-new"), fresh);
          });

      assertThat(fresh.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      done.set(true);
      for (Future<?> each : crowd) {
        each.get(60, SECONDS);
      }
      somebody.rollback();
      assertThat(asked.handle((standing, failure) -> true).get(60, SECONDS)).isTrue();
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  /** Each question is there before the batch of the one before it has ended. */
  private static void keepAsking(SqlStore store, String lock, AtomicBoolean done) {
    store
        .withdraw(Claims.claim(lock))
        .whenComplete(
            (nothing, failure) -> {
              if (!done.get()) {
                keepAsking(store, lock, done);
              }
            });
  }

  private static Void keepBusy(TestDatabase database, String lock, AtomicBoolean done)
      throws SQLException {
    return keepBusy(database, "pawl_lock", lock, done);
  }

  private static Void keepBusy(TestDatabase database, String table, String name, AtomicBoolean done)
      throws SQLException {
    String sleep = database == TestDatabase.POSTGRES ? "pg_sleep" : "SLEEP";
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      while (!done.get()) {
        lockRow(connection, table, name, "");
        statement.execute("SELECT " + sleep + "(0.06)");
        connection.commit();
      }
    }
    return null;
  }

  /**
   * A lock that is asked for without waiting never comes free while others stand in line for it.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBusyRowIsServedThoughItSharedABatchWithABlockedOne(TestDatabase database) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    Claim blocked = Claims.claim(stuck);
    Claim busy = Claims.claim(stuck + "-busy");
    try (SqlStore store = database.open();
        Connection somebody = database.connect()) {
      attempt(store, blocked);
      attempt(store, busy);
      lockRow(somebody, stuck);
      List<Future<?>> crowd = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        crowd.add(threads.submit(() -> keepBusy(database, busy.lock(), done)));
      }
      await().until(() -> database.waitingTransactions() > 1);

      assertThat(renew(store, List.of(blocked, busy))).doesNotContainKey(blocked.id());
      assertThat(renew(store, List.of(busy))).containsKey(busy.id());

      done.set(true);
      for (Future<?> each : crowd) {
        each.get(60, SECONDS);
      }
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aBusyCounterIsServedThoughItSharedABatchWithABlockedOne(TestDatabase database)
      throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    AtomicBoolean done = new AtomicBoolean();
    String busy = stuck + "-busy";
    try (Pawl warm = Pawl.connect(database.url());
        Pawl pawl = Pawl.connect(database.url(), IMPATIENT);
        Connection somebody = database.connect()) {
      warm.counter(stuck).add(1);
      warm.counter(busy).add(1);
      lockRow(somebody, "pawl_counter", stuck, "");
      List<Future<?>> crowd = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        crowd.add(threads.submit(() -> keepBusy(database, "pawl_counter", busy, done)));
      }
      await().until(() -> database.waitingTransactions() > 1);

      assertThatThrownBy(
              () -> pawl.tryTakeAll(Map.of(stuck, 1L, busy, 1L), OperationId.of("basket")))
          .hasMessageContaining(stuck);
      assertThat(pawl.counter(busy).add(1).value()).isEqualTo(2);

      done.set(true);
      for (Future<?> each : crowd) {
        each.get(60, SECONDS);
      }
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aRowThatSomebodyIsMakingStallsNoOtherCounter(TestDatabase database) throws Exception {
    try (Pawl pawl = Pawl.connect(database.url());
        Connection somebody = database.connect()) {
      makeCounter(somebody, stuck);

      ExecutorService threads = Executors.newCachedThreadPool();
      try {
        Future<Change> asked = threads.submit(() -> pawl.counter(stuck).add(1));
        List<Future<Change>> others = new ArrayList<>();
        for (int i = 0; i < OTHERS; i++) {
          String name = stuck + "-" + i;
          others.add(threads.submit(() -> pawl.counter(name).add(7)));
        }
        for (Future<Change> other : others) {
          assertThat(other.get(60, SECONDS).value()).isEqualTo(7);
        }
        assertThatThrownBy(() -> asked.get(60, SECONDS))
            .rootCause()
            .hasMessageContaining(stuck)
            .hasMessageContaining("for 5 s another transaction");

        Future<Change> again = threads.submit(() -> pawl.counter(stuck).add(1));
        somebody.rollback();
        assertThat(again.get(60, SECONDS).value()).isEqualTo(1);
      } finally {
        threads.shutdownNow();
      }
    }
  }

  private static void makeLock(Connection connection, String lock) throws SQLException {
    make(
        connection,
        "INSERT INTO pawl_lock (name, kind, last_token, holders, queued, withdrawn, used)"
            + " VALUES (?, '', 0, '[]', 0, '[]', CURRENT_TIMESTAMP)",
        lock);
  }

  private static void makeCounter(Connection connection, String counter) throws SQLException {
    make(
        connection,
        "INSERT INTO pawl_counter"
            + " (name, value, floor, ceiling, reserved, forgotten, kept_from, last_line)"
            + " VALUES (?, 0, 0, 0, 0, 0, CURRENT_TIMESTAMP, 0)",
        counter);
  }

  private static void make(Connection connection, String insert, String name) throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement row = connection.prepareStatement(insert)) {
      row.setString(1, name);
      assertThat(row.executeUpdate()).isEqualTo(1);
    }
  }

  private static void ask(SqlStore store, Claim claim, CompletableFuture<Standing> answer) {
    store
        .attempt(claim, standing -> {})
        .whenComplete(
            (standing, failure) -> {
              if (failure == null) {
                answer.complete(standing);
              } else {
                answer.completeExceptionally(failure);
              }
            });
  }

  /** What an administrator watches: a request put off says that somebody keeps a row. */
  private static void assertCounted(Map<String, Long> figures) {
    assertThat(figures.get("locks.putOff"))
        .as("once for each request, however often the row is looked at")
        .isBetween(1L, 2L + OTHERS);
    assertThat(figures.get("locks.repeated")).isPositive();
    assertThat(figures.get("locks.requests")).isGreaterThan(2 * OTHERS);
    assertThat(figures.get("locks.batches")).isBetween(3L, figures.get("locks.requests"));
    assertThat(figures).containsEntry("counters.batches", 0L);
  }

  /** As a process does that was stopped between the two trips of a transaction. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aSessionOfOursThatStandsStillHoldsARowForNoLongerThanAClientIsPatient(TestDatabase database)
      throws Exception {
    Database same = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    try (Pawl pawl = Pawl.connect(database.url())) {
      pawl.lock(stuck).acquire().close();
      try (Session stopped = new Session(same)) {
        lockRow(stopped, same);
        stopped.commit();
        lockRow(stopped, same);

        pawl.lock(stuck).acquire().close();
      }
    }
  }

  /** As a process does that was stopped while it reads what a locking read answers. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aSessionOfOursThatReadsNoMoreHoldsARowForNoLongerThanAClientIsPatient(TestDatabase database)
      throws Exception {
    String large = stuck + "-large";
    try (FaultProxy proxy = FaultProxy.before(database.server());
        Pawl pawl = Pawl.connect(database.url());
        Connection somebody = database.connect()) {
      Database same =
          Databases.at(JdbcProvider.connections(StoreUrl.parse(database.urlThrough(proxy))));
      pawl.lock(stuck).acquire().close();
      pawl.lock(large).acquire().close();
      fill(somebody, large);
      Session stopped = new Session(same);
      String lock = stopped.opening() + same.dialect().lockRows(Table.LOCK, 2, true);
      PreparedStatement select = stopped.prepare(lock);
      select.setString(1, stuck);
      select.setString(2, large);
      proxy.throttle(Direction.TO_CLIENT, 1);
      CompletableFuture<Void> reading =
          CompletableFuture.runAsync(
              () -> assertThatThrownBy(select::execute).isInstanceOf(SQLException.class),
              task -> new Thread(task).start());
      await().until(() -> isLocked(somebody));

      pawl.lock(stuck).acquire().close();

      proxy.reset();
      assertThat(reading).succeedsWithin(Duration.ofMinutes(1));
      try (Statement statement = somebody.createStatement()) {
        statement.execute("DELETE FROM pawl_lock WHERE name = '" + large + "'");
      }
    }
  }

  /** With more than any buffer between takes. */
  private static void fill(Connection connection, String lock) throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE pawl_lock SET holders = ? WHERE name = ?")) {
      update.setString(1, "x".repeat(14_000_000));
      update.setString(2, lock);
      update.executeUpdate();
    }
  }

  private boolean isLocked(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet free =
            statement.executeQuery(
                "SELECT name FROM pawl_lock WHERE name = '" + stuck + "' FOR UPDATE SKIP LOCKED")) {
      return !free.next();
    }
  }

  private void lockRow(Session session, Database database) throws SQLException {
    String lock = session.opening() + database.dialect().lockRows(Table.LOCK, 1, true);
    PreparedStatement select = session.prepare(lock);
    select.setString(1, stuck);
    assertThat(Session.query(select).next()).isTrue();
  }

  /** Else two clients wait for each other, each with a row that the other takes before or after. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whoeverWaitsForARowHoldsNoneThatItTookOutOfOrder(TestDatabase database) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    Claim early = Claims.claim(stuck + "-a");
    Claim late = Claims.claim(stuck + "-b");
    try (SqlStore store = database.open();
        Connection somebody = database.connect();
        Connection another = database.connect();
        Connection passer = database.connect()) {
      attempt(store, early);
      attempt(store, late);
      lockRow(somebody, late.lock());
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                assertThat(renew(store, List.of(early, late))).containsOnlyKeys(early.id());
                return database.waitingTransactions() > 0;
              });
      await().until(() -> database.waitingTransactions() == 0); // beside the renewals
      somebody.rollback(); // the late one is not waited for from now on
      lockRow(another, early.lock());

      long tries = store.figures().get("locks.repeated");
      Future<Map<ClaimId, Standing>> renewed =
          threads.submit(() -> renew(store, List.of(early, late)));
      while (store.figures().get("locks.repeated") == tries) {
        boolean isFree = locksRowAtOnce(passer, late.lock());
        passer.rollback();
        assertThat(isFree || store.figures().get("locks.repeated") > tries)
            .as("free while the early one is waited for")
            .isTrue();
      }

      assertThat(renewed.get(60, SECONDS)).doesNotContainKey(early.id());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Map<ClaimId, Standing> renew(SqlStore store, List<Claim> claims) throws Exception {
    return store.renew(claims).toCompletableFuture().get(60, SECONDS);
  }

  /** By a backup, whose wait has no end of its own on these servers. */
  @ParameterizedTest
  @CsvSource({"MYSQL, false", "MYSQL, true", "MARIADB, false", "MARIADB, true"})
  void p8_nothingLeftBehind_aServerThatTakesNoWritesForAWhileKeepsNoSessionsOfOurs(
      TestDatabase database, boolean pooled) throws Exception {
    try (ServerProcess server = database.startServer()) {
      String url = TestDatabase.urlOf(server) + "?socketTimeout=1500";
      try (HikariDataSource pool = new HikariDataSource();
          Connection somebody =
              DriverManager.getConnection(url, TestDatabase.USER, TestDatabase.PASSWORD);
          Statement statement = somebody.createStatement()) {
        pool.setJdbcUrl(url);
        pool.setUsername(TestDatabase.USER);
        pool.setPassword(TestDatabase.PASSWORD);
        pool.setMaximumPoolSize(1);
        PawlOptions patient = PawlOptions.defaults().patience(Duration.ofMinutes(1));
        try (SqlStore store = pooled ? SqlStore.over(pool) : opened(TestDatabase.withUser(url));
            Pawl pawl = Pawl.over(store, patient)) {
          pawl.lock(stuck).acquire().close();
          statement.execute("FLUSH TABLES WITH READ LOCK");
          CompletableFuture<Lease> asked = pawl.lock(stuck).acquireAsync().toCompletableFuture();

          await()
              .during(Duration.ofSeconds(5))
              .atMost(Duration.ofMinutes(1))
              .until(() -> sessionsThatWait(statement) <= 1);

          statement.execute("UNLOCK TABLES");
          asked.get(60, SECONDS).close();
        }
      }
    }
  }

  private static int sessionsThatWait(Statement statement) throws SQLException {
    try (ResultSet sessions =
        statement.executeQuery(
            "SELECT count(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for%'"
                + " AND user = '"
                + TestDatabase.USER
                + "'")) {
      sessions.next();
      return sessions.getInt(1);
    }
  }

  private static void lockRow(Connection connection, String lock) throws SQLException {
    lockRow(connection, lock, "");
  }

  /** Whether nobody has it. */
  private static boolean locksRowAtOnce(Connection connection, String lock) {
    try {
      lockRow(connection, lock, " NOWAIT");
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private static void lockRow(Connection connection, String lock, String or) throws SQLException {
    lockRow(connection, "pawl_lock", lock, or);
  }

  private static void lockRow(Connection connection, String table, String name, String or)
      throws SQLException {
    connection.setAutoCommit(false);
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT name FROM " + table + " WHERE name = ? FOR UPDATE" + or)) {
      select.setString(1, name);
      try (ResultSet row = select.executeQuery()) {
        assertThat(row.next()).isTrue();
      }
    }
  }
}
