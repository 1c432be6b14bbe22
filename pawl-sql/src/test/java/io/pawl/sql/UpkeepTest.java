package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.options.LockOptions;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.QuorumNode.Incarnation;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.spi.Tokens;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.lock.Upkeep;
import io.pawl.sql.transaction.Tally;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is forgotten, what is not, and what tokens do meanwhile. */
class UpkeepTest {

  private static final Duration HOUR = Duration.ofHours(1);

  /** Locks that are forgotten while they are used. */
  private static final int SHARED = 30;

  private static final AtomicInteger numbers = new AtomicInteger();

  private final String prefix = "upkeep" + numbers.incrementAndGet() + ":";

  /** A name of this test's own. */
  private String name(String lock) {
    return prefix + lock;
  }

  /** Lets locks of this test look as if nobody had used them for two hours. */
  private void age(TestDatabase database, String lock) throws SQLException {
    String then = time(database, Instant.now().minus(Duration.ofHours(2)));
    execute(
        database,
        "UPDATE pawl_lock SET used = '" + then + "' WHERE name LIKE '" + name(lock) + "%'");
  }

  private static Upkeep upkeep(TestDatabase database) {
    return new Upkeep(
        Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url()))), new Tally());
  }

  private static String time(TestDatabase database, Instant instant) {
    String millis = instant.toString().substring(0, 23);
    return database == TestDatabase.SQLITE ? millis + "Z" : millis.replace('T', ' ');
  }

  private static void execute(TestDatabase database, String sql) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long ask(TestDatabase database, String query) throws SQLException {
    try (Connection connection = connect(database);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getLong(1);
    }
  }

  /** SQLite's file is open in nobody's hands but a test's: no store may be open then. */
  private static Connection connect(TestDatabase database) throws SQLException {
    return database == TestDatabase.SQLITE
        ? DriverManager.getConnection("jdbc:" + database.baseUrl())
        : database.connect();
  }

  private long stored(TestDatabase database) throws SQLException {
    return ask(database, "SELECT count(*) FROM pawl_lock WHERE name LIKE '" + prefix + "%'");
  }

  private static long take(SqlStore store, String lock) {
    try (Pawl pawl = Pawl.over(store);
        Lease lease = pawl.lock(lock).acquireUninterruptibly()) {
      return lease.token();
    }
  }

  private static <T> T answer(java.util.concurrent.CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  @ParameterizedTest
  @EnumSource
  void locksThatNobodyUsesAreForgottenAndTheirTokensGoOnGrowing(TestDatabase database)
      throws Exception {
    long last = 0;
    try (SqlStore store = database.open()) {
      take(store, name("old"));
      last = Math.max(take(store, name("old")), take(store, name("old too")));
      take(store, name("new"));
    }
    age(database, "old");

    try (SqlStore store = database.open()) {
      assertThat(answer(store.purge(HOUR))).isGreaterThanOrEqualTo(2);
      assertThat(answer(store.show(name("old")))).isEmpty();
      assertThat(answer(store.show(name("new")))).isPresent();
      assertThat(take(store, name("old"))).isGreaterThan(last);
      assertThat(take(store, name("never used"))).isGreaterThan(last);
    }
    try (SqlStore another = database.open()) {
      assertThat(take(another, name("old too"))).isGreaterThan(last);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatACrashedHolderOrAShortestHoldLeftBehindIsForgotten(TestDatabase database)
      throws Exception {
    Claim brief = Claims.claim(name("left"));
    try (SqlStore store = database.open();
        Pawl pawl = Pawl.over(store)) {
      Claim crashed =
          new Claim(
              name("crashed"),
              brief.id(),
              brief.mode(),
              Claim.MIN_LEASE,
              Duration.ZERO,
              true,
              1,
              0,
              false,
              brief.holder());
      answer(store.attempt(crashed, standing -> {}));
      LockOptions kept = LockOptions.defaults().minHold(Duration.ofMillis(100));
      pawl.lock(name("kept"), kept).acquireUninterruptibly().close();
      await().until(() -> holders(store, "crashed") + holders(store, "kept") == 0);
    }
    age(database, "");

    try (SqlStore store = database.open()) {
      answer(store.purge(HOUR));
    }
    assertThat(stored(database)).isZero();
  }

  private int holders(SqlStore store, String lock) {
    return answer(store.show(name(lock))).orElseThrow().holders().size();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLockThatIsUsedBetweenLookingAndForgettingIsNotForgotten(TestDatabase database)
      throws Exception {
    try (SqlStore store = database.open();
        Upkeep upkeep = upkeep(database)) {
      take(store, name("used"));
      long before = Instant.now().minus(HOUR).toEpochMilli();
      assertThat(upkeep.purge(List.of(name("used")), before)).isZero();
      assertThat(stored(database)).isEqualTo(1);
    }
  }

  /** As some servers and proxies do, sooner than a page of locks is forgotten. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aPurgeGoesOnThoughTheServerEndsSessionsThatLieIdle(TestDatabase database) throws Exception {
    try (FaultProxy proxy = FaultProxy.before(database.server());
        SqlStore store =
            (SqlStore)
                Stores.open(
                    StoreUrl.parse(
                        database.urlThrough(proxy) + "&sessionVariables=wait_timeout=1"))) {
      execute(
          database,
          IntStream.range(0, 1_100)
              .mapToObj(i -> "('" + name("idle" + i) + "', 'lock', 1, '[]', 0, '[]', '2020-01-01')")
              .collect(
                  Collectors.joining(
                      ", ",
                      "INSERT INTO pawl_lock"
                          + " (name, kind, last_token, holders, queued, withdrawn, used) VALUES ",
                      "")));
      proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(30));

      answer(store.purge(Duration.ofDays(1)));

      assertThat(stored(database)).isZero();
    }
  }

  @Test
  void noConnectionIsKeptForTheNextTime() throws Exception {
    TestDatabase database = TestDatabase.POSTGRES;
    String session = "upkeep" + numbers.get();
    String sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = '" + session + "'";
    String url = database.url() + "&ApplicationName=" + session;
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url))) {
      take(store, name("one"));
      age(database, "one");
      long before = ask(database, sessions);
      assertThat(answer(store.purge(HOUR))).isPositive();
      assertThat(answer(store.raiseTokens(1))).isNotNegative();
      await().until(() -> ask(database, sessions) == before);
    }
    await().until(() -> ask(database, sessions) == 0);
  }

  @ParameterizedTest
  @EnumSource
  void whatIsHeldOrWaitedForIsNotForgotten(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      answer(store.attempt(Claims.claim(name("held")), standing -> {}));
      answer(store.attempt(Claims.claim(name("held")), standing -> {}));
    }
    age(database, "held");

    try (SqlStore store = database.open()) {
      answer(store.purge(HOUR));
      LockView view = answer(store.show(name("held"))).orElseThrow();
      assertThat(view.holders()).hasSize(1);
      assertThat(view.waiters()).hasSize(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aRowThatSomebodyHasLockedIsLeftOutAndHoldsNobodyUp(TestDatabase database) throws Exception {
    try (SqlStore store = database.open();
        Connection somebody = database.connect();
        Statement statement = somebody.createStatement()) {
      take(store, name("a"));
      take(store, name("b"));
      age(database, "");
      take(store, name("a, used of late"));
      somebody.setAutoCommit(false);
      for (String lock : List.of("a", "a, used of late")) {
        statement.execute("SELECT 1 FROM pawl_lock WHERE name = '" + name(lock) + "' FOR UPDATE");
      }

      answer(store.purge(HOUR));
      assertThat(stored(database)).isEqualTo(2);
      somebody.rollback();
      answer(store.purge(HOUR));
      assertThat(stored(database)).isEqualTo(1);
    }
  }

  /** One whose lease ran out two hours ago. */
  private static String insertWaiter(String lock, ClaimId id) {
    Instant now = Instant.now();
    Instant since = now.minus(Duration.ofHours(3));
    return Claims.join(lock, id, since, now.minus(Duration.ofHours(2)));
  }

  /** Keeps every INSERT of one who waits for {@code lock} waiting until it is rolled back. */
  private static void blockJoins(TestDatabase database, Connection somebody, String lock)
      throws SQLException {
    try (Statement statement = somebody.createStatement()) {
      if (database != TestDatabase.POSTGRES) {
        somebody.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        somebody.setAutoCommit(false);
        statement.execute(
            "SELECT 1 FROM pawl_waiter FORCE INDEX (pawl_waiter_by_lock) WHERE lock_name = '"
                + lock
                + "' FOR UPDATE");
        return;
      }
      somebody.setAutoCommit(false);
      statement.execute(
          "INSERT INTO pawl_waiter (position, lock_name, claims) VALUES (1 +"
              + " nextval(pg_get_serial_sequence('pawl_waiter', 'position')), '', '[]')");
    }
  }

  /** Its statement waits for somebody else as the lock is given back and could be forgotten. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aClaimThatJoinsAsItsLockIsForgottenIsServed(TestDatabase database) throws Exception {
    String lock = name("left");
    Claim held = Claims.claim(lock);
    Claim joining = Claims.claim(lock);
    ExecutorService threads = Executors.newCachedThreadPool();
    try (SqlStore holder = database.open();
        SqlStore joiner = database.open();
        Upkeep upkeep = upkeep(database);
        Connection somebody = database.connect()) {
      answer(holder.attempt(held, standing -> {}));
      blockJoins(database, somebody, lock);
      Future<Standing> joins =
          threads.submit(() -> OnceFree.ask(() -> joiner.attempt(joining, standing -> {})));
      await().pollInterval(Duration.ofMillis(5)).until(() -> database.waitingTransactions() > 0);

      Future<Long> forgets =
          threads.submit(
              () -> {
                OnceFree.ask(() -> holder.withdraw(held));
                return upkeep.purge(List.of(lock), Instant.now().plus(HOUR).toEpochMilli());
              });
      await().until(() -> forgets.isDone() || database.waitingTransactions() > 1);
      somebody.rollback();
      joins.get(60, SECONDS);
      forgets.get(60, SECONDS);

      assertThat(answer(joiner.renew(List.of(joining))).get(joining.id()))
          .isInstanceOf(Standing.Held.class);
      assertThat(Stored.waiters(joiner, lock)).isEmpty();
    } finally {
      threads.shutdown();
    }
  }

  /**
   * The lock was busy when this client last saw it, and its tokens go on though its row is gone.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aNodeOfAQuorumVotesForALockThatWasForgotten(TestDatabase database) throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    String lock = name("voted");
    Claim held = Claims.claim(lock);
    try (SqlStore holder = database.open();
        SqlStore node = (SqlStore) Stores.open(StoreUrl.parse(database.url() + polling));
        Upkeep upkeep = upkeep(database)) {
      node.joinQuorum(Duration.ofSeconds(30));
      answer(node.trust());
      answer(holder.attempt(held, standing -> {}));
      Claim impatient = Claims.claim(lock).as(Mode.EXCLUSIVE);
      assertThat(answer(node.attempt(impatient, standing -> {}))).isEqualTo(Standing.GONE);

      answer(holder.withdraw(held));
      upkeep.purge(List.of(lock), Instant.now().plus(HOUR).toEpochMilli());

      assertThat(answer(node.attempt(Claims.claim(lock), standing -> {})))
          .isInstanceOf(Standing.Held.class);
    }
  }

  /** Who raises stops half-way: what is forgotten comes first, the rows that are there after it. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aNodeOfAQuorumVotesForALockThatItRefusedOnceItsTokensAreRaised(TestDatabase database)
      throws Exception {
    String polling = database == TestDatabase.POSTGRES ? "&pawl.listen=false" : "";
    Claim claim = Claims.claim(name("refused"));
    try (SqlStore node = (SqlStore) Stores.open(StoreUrl.parse(database.url() + polling))) {
      long forgotten = ask(database, "SELECT last_token FROM pawl_forgotten");
      node.joinQuorum(Duration.ofSeconds(30));
      try {
        execute(database, "UPDATE pawl_forgotten SET last_token = 0");
        assertThat(node.attempt(claim, standing -> {}))
            .failsWithin(Duration.ofMinutes(1))
            .withThrowableThat()
            .withMessageContaining("votes");
      } finally {
        execute(database, "UPDATE pawl_forgotten SET last_token = " + Math.max(forgotten, 7));
      }

      assertThat(answer(node.attempt(claim, standing -> {}))).isInstanceOf(Standing.Held.class);
    }
  }

  /** Who asked to raise it may have stood still since, and know of a state before that. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p1_oneHolder_aNodeThatWasEmptiedAgainIsNotRaisedForTheStateBefore(TestDatabase database)
      throws Exception {
    Claim claim = Claims.claim(name("raised late"));
    try (SqlStore node = database.open()) {
      long forgotten = ask(database, "SELECT last_token FROM pawl_forgotten");
      node.joinQuorum(Duration.ofSeconds(30));
      try {
        execute(database, "UPDATE pawl_forgotten SET last_token = 0");
        Incarnation first = answer(node.incarnation());
        answer(node.raise(first, 7));
        assertThat(answer(node.incarnation()).raised()).isTrue();
        assertThat(answer(node.attempt(claim, standing -> {}))).isInstanceOf(Standing.Held.class);

        execute(database, "DELETE FROM pawl_lock");
        execute(database, "UPDATE pawl_forgotten SET last_token = 0");
        answer(node.raise(first, 7));

        Incarnation emptied = answer(node.incarnation());
        assertThat(emptied.raised()).isFalse();
        answer(node.raise(emptied, 7));
        assertThat(answer(node.incarnation()).raised()).isTrue();
      } finally {
        execute(database, "UPDATE pawl_forgotten SET last_token = " + Math.max(forgotten, 7));
      }
    }
  }

  /** Whoever says what kind it is has left it as a lock that was given back, with no token. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aNodeOfAQuorumThatIsNewDoesNotVoteForALockOfAKnownKind(TestDatabase database)
      throws Exception {
    String lock = name("of a kind");
    try (SqlStore node = database.open()) {
      long forgotten = ask(database, "SELECT last_token FROM pawl_forgotten");
      node.joinQuorum(Duration.ofSeconds(30));
      try {
        execute(database, "UPDATE pawl_forgotten SET last_token = 0");
        assertThat(answer(node.setKind(lock, Kind.LOCK))).isTrue();
        assertThat(node.attempt(Claims.claim(lock), standing -> {}))
            .failsWithin(Duration.ofMinutes(1))
            .withThrowableThat()
            .withMessageContaining("votes");
      } finally {
        execute(database, "UPDATE pawl_forgotten SET last_token = " + Math.max(forgotten, 7));
      }

      assertThat(answer(node.attempt(Claims.claim(lock), standing -> {})))
          .isInstanceOfSatisfying(
              Standing.Held.class, held -> assertThat(held.token()).isGreaterThan(7));
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aWaiterThatIsGoneWithItsLockMakesNoRow(TestDatabase database) throws Exception {
    String lock = name("gone");
    try (SqlStore store = database.open()) {
      answer(store.attempt(Claims.claim(lock), standing -> {}));
      Claim waiting = Claims.claim(lock);
      assertThat(answer(store.attempt(waiting, standing -> {})))
          .isInstanceOf(Standing.Waiting.class);
      execute(database, "DELETE FROM pawl_waiter WHERE lock_name = '" + lock + "'");
      execute(database, "DELETE FROM pawl_lock WHERE name = '" + lock + "'");

      assertThat(answer(store.renew(List.of(waiting)))).containsEntry(waiting.id(), Standing.GONE);

      assertThat(answer(store.show(lock))).isEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aClaimThatDiedInTheQueueOfAnIdleLockIsForgottenToo(TestDatabase database) throws Exception {
    try (SqlStore store = database.open()) {
      take(store, name("left"));
    }
    execute(database, insertWaiter(name("left"), new ClaimId("gone", 1)));
    execute(database, "UPDATE pawl_lock SET queued = 1 WHERE name = '" + name("left") + "'");
    age(database, "left");

    try (SqlStore store = database.open()) {
      answer(store.purge(HOUR));
    }
    assertThat(stored(database)).isZero();
    String waiters = "SELECT count(*) FROM pawl_waiter WHERE lock_name = '" + name("left") + "'";
    assertThat(ask(database, waiters)).isZero();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p2_tokensOnlyGrow_thoughLocksAreForgottenWhileTheyAreUsed(TestDatabase database)
      throws Exception {
    Map<String, Long> latest = new ConcurrentHashMap<>();
    List<String> wrong = new ArrayList<>();
    AtomicBoolean enough = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(7);
    List<String> locks = IntStream.range(0, SHARED).mapToObj(i -> name("shared" + i)).toList();
    long soon = Instant.now().plus(HOUR).toEpochMilli();
    long purged = 0;
    try (Upkeep upkeep = upkeep(database);
        Pawl one = Pawl.connect(database.url());
        Pawl other = Pawl.connect(database.url())) {
      List<CompletableFuture<Void>> users = new ArrayList<>();
      for (Pawl client : List.of(one, other, one, other, one, other)) {
        users.add(
            CompletableFuture.runAsync(() -> cycle(client, locks, enough, latest, wrong), threads));
      }
      CompletableFuture<Void> all =
          CompletableFuture.allOf(users.toArray(CompletableFuture[]::new));
      while (!all.isDone()) {
        purged += upkeep.purge(locks, soon);
        enough.set(purged > 300);
      }
      all.join();
    } finally {
      threads.shutdown();
      threads.awaitTermination(60, TimeUnit.SECONDS);
    }
    assertThat(wrong).isEmpty();
  }

  /**
   * The statement that makes rows waits at the first of them, with the tokens before its eyes that
   * counted when it began; the second is made, used and forgotten meanwhile.
   */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p2_tokensOnlyGrow_thoughALockIsForgottenWhileAnotherClientMakesItsRow(TestDatabase database)
      throws Exception {
    ExecutorService thread = Executors.newSingleThreadExecutor();
    try (SqlStore slow = database.open();
        SqlStore fast = database.open();
        Upkeep upkeep = upkeep(database);
        Connection somebody = database.connect();
        Statement statement = somebody.createStatement()) {
      take(slow, name("seen"));
      take(fast, name("seen too"));
      somebody.setAutoCommit(false);
      statement.execute(
          "INSERT INTO pawl_lock VALUES ('"
              + name("a")
              + "', '', 0, '[]', 0, '[]', '"
              + time(database, Instant.now())
              + "')");
      Claim first = Claims.claim(name("a"));
      Claim second = Claims.claim(name("b"));
      Future<Standing> late =
          thread.submit(
              () ->
                  OnceFree.ask(
                      () -> {
                        AtomicReference<CompletionStage<Standing>> standing =
                            new AtomicReference<>();
                        slow.together(
                            () -> {
                              slow.attempt(first, ignored -> {});
                              standing.set(slow.attempt(second, ignored -> {}));
                            });
                        return standing.get();
                      }));
      await().pollInterval(Duration.ofMillis(5)).until(() -> database.waitingTransactions() > 0);

      long token = take(fast, name("b"));
      assertThat(upkeep.purge(List.of(name("b")), Instant.now().plus(HOUR).toEpochMilli()))
          .isEqualTo(1);
      somebody.rollback();

      Standing.Held held = (Standing.Held) late.get(60, SECONDS);
      assertThat(held.token()).isGreaterThan(token);
    } finally {
      thread.shutdown();
    }
  }

  private void cycle(
      Pawl client,
      List<String> locks,
      AtomicBoolean enough,
      Map<String, Long> latest,
      List<String> wrong) {
    while (!enough.get()) {
      String lock = locks.get(ThreadLocalRandom.current().nextInt(SHARED));
      try (Lease lease = client.lock(lock).acquireUninterruptibly()) {
        Long before = latest.put(lock, lease.token());
        if (before != null && before >= lease.token()) {
          synchronized (wrong) {
            wrong.add(lock + ": " + before + ", then " + lease.token());
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void raisedTokensAreLargerThanAllThatWereGrantedKnownOrNot(TestDatabase database) {
    long by = 1_000_000;
    try (SqlStore store = database.open()) {
      long known = take(store, name("known"));
      assertThat(answer(store.raiseTokens(by))).isPositive();
      assertThat(take(store, name("known"))).isGreaterThan(known + by);
      assertThat(take(store, name("never used"))).isGreaterThan(by);
      try (Pawl pawl = Pawl.over(store);
          Lease lease = pawl.lock(name("held")).acquireUninterruptibly()) {
        answer(store.raiseTokens(by));
        lease.extend(Duration.ofMillis(1));
        assertThat(lease.isValid()).isTrue();
      }
      assertThat(answer(store.show(name("held"))).orElseThrow().holders()).isEmpty();
    }
  }

  @Test
  void tokensThatCannotBeRaisedSayHowFarTheyAre() throws Exception {
    TestDatabase database = TestDatabase.MYSQL;
    try (SqlStore store = database.open()) {
      take(store, name("far"));
      String set = "UPDATE pawl_lock SET last_token = " + (Tokens.MAX - 5) + " WHERE name = '";
      execute(database, set + name("far") + "'");
      assertThatThrownBy(() -> answer(store.raiseTokens(10)))
          .isInstanceOf(CompletionException.class)
          .cause()
          .isInstanceOf(StoreException.class)
          .hasMessageContaining(Long.toString(Tokens.MAX - 5));
    } finally {
      execute(database, "DELETE FROM pawl_lock WHERE name = '" + name("far") + "'");
    }
  }

  @Test
  void aSemaphoreThatIsForgottenMayComeBackAsALock() throws Exception {
    TestDatabase database = TestDatabase.POSTGRES;
    try (SqlStore store = database.open()) {
      answer(store.setKind(name("kind"), Kind.semaphore(3)));
      age(database, "kind");
      answer(store.purge(HOUR));
      assertThat(take(store, name("kind"))).isPositive();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void nothingIsForgottenNorBegunWhereNobodyRemembersTheTokens(TestDatabase database)
      throws Exception {
    try (SqlStore store = database.open()) {
      take(store, name("kept"));
      age(database, "kept");
      long floor = ask(database, "SELECT last_token FROM pawl_forgotten");
      execute(database, "DELETE FROM pawl_forgotten");
      try {
        assertThatThrownBy(() -> answer(store.purge(HOUR)))
            .cause()
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("pawl_forgotten");
        assertThat(stored(database)).isEqualTo(1);
        List<CompletionStage<Standing>> standings = new ArrayList<>();
        store.together(
            () -> {
              for (String lock : List.of("kept", "new")) {
                standings.add(store.attempt(Claims.claim(name(lock)), standing -> {}));
              }
            });
        assertThat(answer(standings.get(0))).isInstanceOf(Standing.Held.class);
        assertThatThrownBy(() -> answer(standings.get(1)))
            .cause()
            .isInstanceOf(StoreException.class)
            .hasMessageContaining("pawl tokens raise");
        assertThat(store.diagnose())
            .anyMatch(
                finding ->
                    finding.level() == Diagnosable.Level.PROBLEM
                        && finding.what().contains("pawl_forgotten"));
      } finally {
        execute(database, "INSERT INTO pawl_forgotten VALUES (1, " + floor + ", 0)");
      }
    }
  }

  @Test
  void anIdleTimeInWhichAMessageMayStillArriveIsRefused() {
    try (SqlStore store = TestDatabase.MYSQL.open()) {
      assertThatThrownBy(() -> store.purge(Duration.ofMinutes(59)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("PT59M");
      assertThatThrownBy(() -> store.raiseTokens(0)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
