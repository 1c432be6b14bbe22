package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.FaultProxy.AfterDrop;
import io.pawl.servers.ServerProcess;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.sql.dialect.PostgresDialect;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Nobody renews here: whoever is served has been rung for. */
class DoorbellTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "bell-" + names.incrementAndGet();

  private static Standing attempt(SqlStore store, Claim claim, CompletableFuture<Standing> bell)
      throws Exception {
    return store.attempt(claim, bell::complete).toCompletableFuture().get(60, SECONDS);
  }

  private void assertRung(SqlStore here, SqlStore there) throws Exception {
    for (int round = 0; round < 3; round++) {
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      Standing held = attempt(here, holder, new CompletableFuture<>());
      assertThat(held).isInstanceOf(Standing.Held.class);
      assertThat(attempt(there, waiter, bell)).isInstanceOf(Standing.Waiting.class);

      here.withdraw(holder).toCompletableFuture().get(60, SECONDS);

      assertThat(bell.get(60, SECONDS))
          .isInstanceOfSatisfying(
              Standing.Held.class,
              granted ->
                  assertThat(granted.token()).isGreaterThan(((Standing.Held) held).lastToken()));
      there.withdraw(waiter).toCompletableFuture().get(60, SECONDS);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aGrantByAnotherClientRings(TestDatabase database) throws Exception {
    try (SqlStore here = database.open();
        SqlStore there = database.open()) {
      assertRung(here, there);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aBellThatFailsKeepsNobodyElsesFromRinging(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      Claim holder = Claims.claim(name);
      Claim other = Claims.claim(name + "-other");
      attempt(store, holder, new CompletableFuture<>());
      attempt(store, other, new CompletableFuture<>());
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      store
          .attempt(
              Claims.claim(name),
              standing -> {
                throw new StackOverflowError("of a bell");
              })
          .toCompletableFuture()
          .get(60, SECONDS);
      attempt(store, Claims.claim(name + "-other"), bell);
      CompletableFuture<?>[] given = new CompletableFuture<?>[2];
      store.together(
          () -> {
            given[0] = store.withdraw(holder).toCompletableFuture();
            given[1] = store.withdraw(other).toCompletableFuture();
          });
      CompletableFuture.allOf(given).get(60, SECONDS);
      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  /** Without a binary log, others see what is committed before it is in a log. */
  @Test
  void p2_tokensOnlyGrow_aGrantThatACrashCouldUndoIsToldOnceALaterCommitHasKeptIt()
      throws Exception {
    TestDatabase database = TestDatabase.MARIADB;
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore here = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)))) {
      assertToldOnceKept(proxy, here);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void p2_tokensOnlyGrow_alsoAfterASwitchToAServerWithoutABinaryLog(boolean pooled)
      throws Exception {
    TestDatabase database = TestDatabase.MARIADB;
    try (ServerProcess before = database.startServer("--log-bin");
        FaultProxy proxy = FaultProxy.before(before);
        HikariDataSource pool = new HikariDataSource()) {
      String url = database.urlThrough(proxy);
      pool.setJdbcUrl(url);
      try (SqlStore here =
          pooled ? SqlStore.over(pool) : (SqlStore) Stores.open(StoreUrl.parse(url))) {
        attempt(here, Claims.claim(name), new CompletableFuture<>());
        proxy.leadTo(database.server());
        proxy.reset();

        assertToldOnceKept(proxy, here);
      }
    }
  }

  private void assertToldOnceKept(FaultProxy proxy, SqlStore here) throws Exception {
    try (SqlStore there = TestDatabase.MARIADB.open()) {
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      attempt(there, holder, new CompletableFuture<>());
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .ignoreException(ExecutionException.class)
          .until(() -> attempt(here, waiter, bell) instanceof Standing.Waiting);

      proxy.dropCommits(1, AfterDrop.SILENCE);
      there.withdraw(holder).toCompletableFuture().get(60, SECONDS);

      Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> proxy.droppedReplies() == 1);
      assertThat(bell).isNotDone();
      proxy.heal();
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .ignoreExceptions()
          .until(
              () ->
                  here.renew(List.of(waiter))
                          .toCompletableFuture()
                          .get(60, SECONDS)
                          .get(waiter.id())
                      instanceof Standing.Held);
    }
  }

  /** A shortest hold that is longer than its lease leaves a renewal nothing to write. */
  @Test
  void p2_tokensOnlyGrow_aHoldThatIsFoundAgainIsToldOnceACommitHasKeptIt() throws Exception {
    TestDatabase database = TestDatabase.MARIADB;
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(database.urlThrough(proxy)))) {
      Claim claim = Claims.heldFor(name, Duration.ofMinutes(10));
      Standing held = attempt(store, claim, new CompletableFuture<>());

      proxy.dropReplies(1, AfterDrop.RESET, "last_token + 1");

      assertThat(store.attempt(claim, standing -> {}).toCompletableFuture())
          .failsWithin(Duration.ofSeconds(60));
      assertThat(proxy.droppedReplies()).isEqualTo(1);
      assertThat(attempt(store, claim, new CompletableFuture<>())).isEqualTo(held);
    }
  }

  /** Its giver saw nobody wait, whoever joined saw it held: both were right when they looked. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whoeverJoinedAsItsLockBecameFreeIsServed(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    try (SqlStore here = database.open();
        SqlStore there = (SqlStore) Stores.open(StoreUrl.parse(database.url() + polling));
        Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      attempt(here, Claims.claim(name), new CompletableFuture<>());
      assertThat(attempt(there, Claims.claim(name), bell)).isInstanceOf(Standing.Waiting.class);

      statement.execute("UPDATE pawl_lock SET holders = '[]' WHERE name = '" + name + "'");

      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  /** Nobody looks there: whoever gives back must see who joined while it waited for the row. */
  @Test
  void aGiveBackThatWaitedForAJoinServesIt() throws Exception {
    TestDatabase database = TestDatabase.POSTGRES;
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (SqlStore store = database.open();
        Connection joins = database.connect();
        Connection looks = database.connect();
        Statement statement = joins.createStatement()) {
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      attempt(store, holder, new CompletableFuture<>());
      joins.setAutoCommit(false);
      statement.execute("SELECT 1 FROM pawl_lock WHERE name = '" + name + "' FOR UPDATE");
      Future<?> gives = thread.submit(() -> OnceFree.ask(() -> store.withdraw(holder)));
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () ->
                  ask(
                          looks,
                          "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                              + " AND application_name = 'pawl'")
                      == 1);
      Instant now = Instant.now();
      statement.execute(Claims.join(name, waiter.id(), now, now.plusSeconds(300)));
      statement.execute("UPDATE pawl_lock SET queued = 1 WHERE name = '" + name + "'");
      joins.commit();
      gives.get(60, SECONDS);

      String served = "SELECT count(*) FROM pawl_lock WHERE holders LIKE '%" + waiter.id() + "%'";
      assertThat(ask(looks, served)).as("in the row: a view serves whom it reads").isEqualTo(1);
    } finally {
      thread.shutdownNow();
    }
  }

  @Test
  void aGrantRingsOnPostgresWithoutListenToo() throws Exception {
    StoreUrl polling = StoreUrl.parse(TestDatabase.POSTGRES.url() + "&pawl.listen=false");
    try (SqlStore here = TestDatabase.POSTGRES.open();
        SqlStore there = (SqlStore) Stores.open(polling)) {
      assertRung(here, there);
    }
  }

  /** Where LISTEN would be deaf; the engine asks only every 2 s, and here never. */
  @Test
  void aGrantRingsBehindPgBouncerToo() throws Exception {
    try (SqlStore here = TestDatabase.POSTGRES.open();
        SqlStore there = PgBouncerContractsTest.openBounced()) {
      assertRung(here, there);
      assertThat(there.diagnose()).anyMatch(finding -> finding.what().contains("pooler"));
      assertThat(here.diagnose()).noneMatch(finding -> finding.what().contains("pooler"));
    }
  }

  /** Whoever may connect may send it, with no right on any table. */
  /** More than a SELECT has columns. */
  @Test
  void thousandsWhoAreGrantedTogetherAreRungFor() throws Exception {
    List<String> locks = List.of(name + "-a", name + "-b");
    try (SqlStore here = TestDatabase.POSTGRES.open();
        SqlStore there = TestDatabase.POSTGRES.open()) {
      List<Claim> writers = new ArrayList<>();
      for (String lock : locks) {
        writers.add(Claims.claim(lock));
        assertThat(attempt(here, writers.get(writers.size() - 1), new CompletableFuture<>()))
            .isInstanceOf(Standing.Held.class);
      }
      List<CompletableFuture<Standing>> bells = new ArrayList<>();
      there.together(
          () -> {
            for (int i = 0; i < 2_000; i++) {
              CompletableFuture<Standing> bell = new CompletableFuture<>();
              bells.add(bell);
              there.attempt(Claims.reader(locks.get(i % 2)), bell::complete);
            }
          });
      for (String lock : locks) {
        Awaitility.await().until(() -> Stored.waiters(there, lock).size() == 1_000);
      }

      List<CompletableFuture<Void>> ends = new ArrayList<>();
      here.together(
          () -> writers.forEach(writer -> ends.add(here.withdraw(writer).toCompletableFuture())));

      for (CompletableFuture<Void> end : ends) {
        end.get(60, SECONDS);
      }
      for (CompletableFuture<Standing> bell : bells) {
        assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  @Test
  void aForgedNotificationGrantsNothing() throws Exception {
    String stranger = "stranger" + names.get();
    try (SqlStore store = TestDatabase.POSTGRES.open();
        Connection owner = TestDatabase.POSTGRES.connect();
        Statement statement = owner.createStatement()) {
      statement.execute("CREATE USER " + stranger + " PASSWORD 'stranger'");
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      long first = ((Standing.Held) attempt(store, holder, new CompletableFuture<>())).token();
      assertThat(attempt(store, waiter, bell)).isInstanceOf(Standing.Waiting.class);
      awaitListening(owner);
      try (Connection forger =
              DriverManager.getConnection(TestDatabase.POSTGRES.baseUrl(), stranger, "stranger");
          Statement forges = forger.createStatement();
          SqlStore other = TestDatabase.POSTGRES.open()) {
        String channel = PostgresDialect.channel(waiter.id());
        for (String payload :
            new String[] {waiter.id() + " 700 700", waiter.id().toString(), "", "a.b.c", "x 1"}) {
          forges.execute("SELECT pg_notify('" + channel + "', '" + payload + "')");
        }
        other.withdraw(holder).toCompletableFuture().get(60, SECONDS);
      }
      assertThat(bell.get(60, SECONDS))
          .isInstanceOfSatisfying(
              Standing.Held.class, held -> assertThat(held.token()).isEqualTo(first + 1));
    }
  }

  @Test
  void allClientsOfAStoreAreRungForAfterTheBellsConnectionWasLost() throws Exception {
    try (SqlStore here = TestDatabase.POSTGRES.open();
        SqlStore there = TestDatabase.POSTGRES.open();
        Connection owner = TestDatabase.POSTGRES.connect()) {
      List<Claim> holders = new ArrayList<>();
      List<CompletableFuture<Standing>> bells = new ArrayList<>();
      for (int client = 0; client < 3; client++) {
        String lock = name + "-" + client;
        Claim holder = Claims.claim(lock);
        attempt(there, holder, new CompletableFuture<>());
        holders.add(holder);
        CompletableFuture<Standing> bell = new CompletableFuture<>();
        Claim waiter = Claims.of(lock, new ClaimId(name + "-client-" + client, 1));
        assertThat(attempt(here, waiter, bell)).isInstanceOf(Standing.Waiting.class);
        bells.add(bell);
      }
      int lost = awaitListening(owner);
      ask(owner, "SELECT pg_terminate_backend(" + lost + ")::int");
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> awaitListening(owner), again -> again != lost);

      for (Claim holder : holders) {
        there.withdraw(holder).toCompletableFuture().get(60, SECONDS);
      }

      for (CompletableFuture<Standing> bell : bells) {
        assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      }
    }
  }

  /** Each LISTEN makes the next notification dearer for its session. */
  @Test
  void clientsThatAreGoneAreListenedForNoLongerThanSomeoneElseWaits() throws Exception {
    try (SqlStore here = TestDatabase.POSTGRES.open();
        SqlStore there = TestDatabase.POSTGRES.open();
        Connection owner = TestDatabase.POSTGRES.connect()) {
      Claim holder = Claims.claim(name);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      attempt(there, holder, new CompletableFuture<>());
      assertThat(attempt(here, Claims.claim(name), bell)).isInstanceOf(Standing.Waiting.class);
      int first = awaitListening(owner);
      String crowded = name + "-crowded";
      attempt(there, Claims.claim(crowded), new CompletableFuture<>());
      for (int i = 0; i < 2; i++) {
        List<Claim> passing = new ArrayList<>();
        for (int client = 0; client < 600; client++) {
          passing.add(Claims.of(crowded, new ClaimId(name + "-passes-" + i + "-" + client, 1)));
        }
        together(here, passing, claim -> here.attempt(claim, standing -> {}));
        together(here, passing, here::withdraw);
      }

      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(
              () -> ask(owner, "SELECT count(*) FROM pg_stat_activity WHERE pid = " + first) == 0);

      there.withdraw(holder).toCompletableFuture().get(60, SECONDS);
      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
    }
  }

  private static void together(
      SqlStore store, List<Claim> claims, Function<Claim, CompletionStage<?>> verb)
      throws Exception {
    List<CompletableFuture<?>> answers = new ArrayList<>();
    store.together(
        () -> claims.forEach(claim -> answers.add(verb.apply(claim).toCompletableFuture())));
    CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(60, SECONDS);
  }

  /** Answers the process that serves the bell's connection. */
  private static int awaitListening(Connection connection) {
    String listens =
        "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE application_name = 'pawl' AND"
            + " query LIKE '%pawl_lock%' AND query LIKE '%holders, 0, ''[]''%' AND state = 'idle'";
    return Awaitility.await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> ask(connection, listens), pid -> pid > 0);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theBellsConnectionIsOpenOnlyWhileSomeoneWaits(TestDatabase database) throws Exception {
    try (Connection connection = database.connect();
        SqlStore store = database.open()) {
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      attempt(store, holder, new CompletableFuture<>());
      awaitConnections(database, connection, 1);
      attempt(store, waiter, bell);
      awaitConnections(database, connection, 2);
      store.withdraw(holder).toCompletableFuture().get(60, SECONDS);
      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      awaitConnections(database, connection, 1);
    }
  }

  /** Counted by the server, which sees no other client. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void looksComeATenthOfTheWaitApartAtLeastAndOnlyWhileSomeoneWaits(TestDatabase database)
      throws Exception {
    try (Connection connection = database.connect();
        SqlStore store = database.open()) {
      Claim holder = Claims.claim(name);
      Claim waiter = Claims.claim(name);
      attempt(store, holder, new CompletableFuture<>());
      attempt(store, waiter, new CompletableFuture<>());
      long startedAt = System.nanoTime();
      long before = selects(connection);
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> selects(connection) - before >= 40);
      long polls = selects(connection) - before;
      long passed = System.nanoTime() - startedAt;
      assertThat(polls).isLessThanOrEqualTo(mostLooks(passed) + 2); // the connection's own

      store.withdraw(waiter).toCompletableFuture().get(60, SECONDS);
      long then = selects(connection);
      Awaitility.await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> show(connection, "GLOBAL STATUS LIKE 'Threads_connected'") == 2);
      assertThat(selects(connection) - then).as("but the one under way").isLessThanOrEqualTo(1);
    }
  }

  /** 1 ms apart at first. */
  private static long mostLooks(long nanos) {
    long looks = 1;
    for (long at = 1_000_000; at < nanos; at += Math.max(1_000_000, at / 10)) {
      looks++;
    }
    return looks;
  }

  private static long selects(Connection connection) throws SQLException {
    return show(connection, "GLOBAL STATUS LIKE 'Com_select'");
  }

  private static long show(Connection connection, String what) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW " + what)) {
      row.next();
      return row.getLong(2);
    }
  }

  /** Of those opened after {@code connection}: PgBouncer keeps some of others. */
  private static void awaitConnections(TestDatabase database, Connection connection, int n) {
    String count =
        database == TestDatabase.POSTGRES
            ? "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pawl' AND"
                + " backend_start > (SELECT backend_start FROM pg_stat_activity"
                + " WHERE pid = pg_backend_pid())"
            : "SELECT count(*) FROM information_schema.processlist"
                + " WHERE user = 'pawl' AND id > connection_id()";
    Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> ask(connection, count) == n);
  }

  private static int ask(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getInt(1);
    }
  }
}
