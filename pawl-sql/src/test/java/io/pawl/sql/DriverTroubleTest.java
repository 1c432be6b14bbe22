package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Counter;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome.Status;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Update;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Kind;
import io.pawl.spi.Operation;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.rule.CounterState;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.SqlStates;
import io.pawl.sql.dialect.SqliteDialect;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a driver, or the JVM under it, does at the worst moment. */
class DriverTroubleTest {

  private static final AtomicInteger names = new AtomicInteger();

  /** What MySQL and MariaDB say where a statement is killed. */
  private static final Supplier<SQLException> INTERRUPTED =
      () -> new SQLException("Query execution was interrupted", "70100", 1317);

  @TempDir Path folder;

  private final String name = "trouble-" + names.incrementAndGet();

  /** What a method of the driver's is made to answer. */
  private interface Tampering {
    Object after(String method, Object[] arguments, Object answer) throws SQLException;
  }

  private static <T> T tampered(Class<T> type, T driver, Tampering tampering) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer;
              try {
                answer = method.invoke(driver, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
              return tampering.after(method.getName(), arguments, answer);
            }));
  }

  /** A file whose driver fails once it has committed. */
  private final class Failing extends SqliteDialect {

    private final AtomicBoolean next = new AtomicBoolean();
    private final Runnable failure;

    Failing(Runnable failure) {
      super(folder.resolve("locks.db"));
      this.failure = failure;
    }

    @Override
    public Connection open() throws SQLException {
      return tampered(Connection.class, super.open(), this::prepared);
    }

    private Object prepared(String method, Object[] arguments, Object answer) {
      return method.equals("prepareStatement") && arguments[0].equals("COMMIT")
          ? tampered(PreparedStatement.class, (PreparedStatement) answer, this::committed)
          : answer;
    }

    private Object committed(String method, Object[] arguments, Object answer) {
      if (method.equals("execute") && next.getAndSet(false)) {
        failure.run();
      }
      return answer;
    }
  }

  private static void runOutOfMemory() {
    throw new OutOfMemoryError("of a driver");
  }

  private static void misreadAnAnswer() {
    throw new IllegalArgumentException("invalid length-encoded value");
  }

  @Test
  void whatWasCommittedWhenTheJvmFailedIsToldById() {
    isToldById(DriverTroubleTest::runOutOfMemory);
  }

  @Test
  void whatWasCommittedWhenTheDriverFailedIsToldById() {
    isToldById(DriverTroubleTest::misreadAnAnswer);
  }

  private void isToldById(Runnable failure) {
    Failing file = new Failing(failure);
    try (Pawl pawl = Pawl.over(SqlStore.open(file.database()))) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(5));
      file.next.set(true);
      assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(4));
      assertThat(file.next).as("it has failed").isFalse();
      assertThat(counter.get()).isEqualTo(4);
    }
  }

  @Test
  void aLockThatWasGrantedWhenTheJvmFailedIsHeld() throws InterruptedException {
    Failing file = new Failing(DriverTroubleTest::runOutOfMemory);
    try (Pawl pawl = Pawl.over(SqlStore.open(file.database()))) {
      file.next.set(true);
      assertThat(pawl.lock(name).acquire().token()).isEqualTo(1);
      assertThat(file.next).as("it has failed").isFalse();
    }
  }

  /** A file that is lost with a connection, so that no other can be opened. */
  private final class Lost extends SqliteDialect {

    private final AtomicBoolean lost = new AtomicBoolean();

    Lost() {
      super(folder.resolve("locks.db"));
    }

    @Override
    public Connection open() throws SQLException {
      if (lost.get()) {
        throw new SQLException("cannot be reached", "08001");
      }
      return super.open();
    }

    @Override
    public Failure classify(SQLException failure) {
      return SqlStates.classify(failure);
    }

    private Object after(String method, Object[] arguments, Object answer) throws SQLException {
      if (method.equals("execute")) {
        lost.set(true);
        throw new SQLException("is gone", "08006");
      }
      return answer;
    }
  }

  @Test
  void anUpdateThatMayHaveBeenAppliedStaysInDoubtWhereItCannotBeRepeated() {
    Lost file = new Lost();
    try (Transactions transactions = new Transactions(file.database(), new Tally())) {
      transactions.run(
          session -> {
            session.prepare("CREATE TABLE applied (times INTEGER)").execute();
            session.commit();
            return true;
          });

      assertThatThrownBy(
              () ->
                  transactions.run(
                      session -> {
                        PreparedStatement update =
                            session.prepare("INSERT INTO applied VALUES (1)");
                        return session.runAlone(
                            tampered(PreparedStatement.class, update, file::after), true);
                      }))
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isFalse());
    }
  }

  @Test
  void anErrorAfterACommitLeavesTheOutcomeUnknown() {
    try (Transactions transactions =
        new Transactions(new SqliteDialect(folder.resolve("locks.db")).database(), new Tally())) {
      assertThatThrownBy(
              () ->
                  transactions.run(
                      session -> {
                        session.write(
                            new Session.Write(
                                "CREATE TABLE applied (times INTEGER)",
                                (statement, parameter) -> parameter));
                        session.commit();
                        throw new OutOfMemoryError("of an answer");
                      }))
          .isInstanceOfSatisfying(
              StoreUnavailableException.class, e -> assertThat(e.isUnsent()).isFalse());
    }
  }

  /** What is left of an answer would be taken for the next one. */
  @Test
  void aConnectionWhoseDriverFailedInTheMiddleOfATripIsNotUsedAgain() {
    List<Connection> used = new ArrayList<>();
    try (Transactions transactions =
        new Transactions(new SqliteDialect(folder.resolve("locks.db")).database(), new Tally())) {
      assertThatThrownBy(
              () ->
                  transactions.run(
                      session -> {
                        used.add(session.connection());
                        throw new IllegalArgumentException("invalid length-encoded value");
                      }))
          .isInstanceOf(StoreException.class);

      transactions.run(session -> used.add(session.connection()));

      assertThat(used.get(1)).isNotSameAs(used.get(0));
    }
  }

  /** Where the counter is known well enough to decide without a transaction. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void anErrorInADecisionOnACounterIsAnswered(TestDatabase database) {
    Database server = Databases.at(JdbcProvider.connections(StoreUrl.parse(database.url())));
    try (SqlStore tables = database.open();
        CounterCombiner counters = new CounterCombiner(server, "pawl-test-counters")) {
      assertThat(tables.read(name)).succeedsWithin(Duration.ofMinutes(1));
      Operation set = new Operation.SetTo(3);
      CounterRequest request =
          CounterRequest.of(
              name, UUID.randomUUID().toString(), System.currentTimeMillis(), set, false);
      assertThat(counters.submit(new PendingOperation.Change(request)))
          .succeedsWithin(Duration.ofMinutes(1));

      assertThat(counters.submit(new FailingDecision()))
          .failsWithin(Duration.ofMinutes(1))
          .withThrowableThat()
          .withCauseInstanceOf(StoreException.class);

      assertThat(counters.submit(new PendingOperation.Look(name)))
          .succeedsWithin(Duration.ofMinutes(1));
    }
  }

  private final class FailingDecision extends PendingOperation<String> {

    @Override
    public Set<String> names() {
      return Set.of(name);
    }

    @Override
    public boolean mayBeGuessed() {
      return true;
    }

    @Override
    public String decide(Map<String, CounterState> states, long now) {
      throw new StackOverflowError("of a rule");
    }
  }

  /** A client killed at the wrong moment is told that its COMMIT was interrupted. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aTakeOfTheLastWhoseCommitWasInterruptedIsTold(TestDatabase database) {
    AtomicBoolean next = new AtomicBoolean();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && next.getAndSet(false)) {
            throw INTERRUPTED.get();
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database);
        SqlStore store = SqlStore.over(tampered(pool, commits));
        Pawl pawl = Pawl.over(store)) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(1));
      next.set(true);

      assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(0));

      assertThat(next).as("it has been interrupted").isFalse();
      assertThat(counter.get()).isZero();
    }
  }

  /** Its repetition is put off, and has to look for what the first try left all the same. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p7_conservation_aTakeOfTheLastWhoseCommitWasInterruptedIsToldOnceItsRowIsFree(
      TestDatabase database) throws SQLException {
    AtomicBoolean next = new AtomicBoolean();
    AtomicReference<Connection> stranger = new AtomicReference<>();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && next.getAndSet(false)) {
            stranger.set(database.connect());
            stranger.get().setAutoCommit(false);
            try (Statement statement = stranger.get().createStatement()) {
              statement.executeQuery(
                  "SELECT value FROM pawl_counter WHERE name = '" + name + "' FOR UPDATE");
            }
            throw INTERRUPTED.get();
          }
          if (method.equals("commit") && stranger.get() != null) {
            stranger.getAndSet(null).close();
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database);
        SqlStore store = SqlStore.over(tampered(pool, commits));
        Pawl pawl = Pawl.over(store)) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(1));
      next.set(true);

      assertThat(counter.tryTake(1)).isEqualTo(new Change.Applied(0));

      assertThat(next).as("it has been interrupted").isFalse();
      assertThat(stranger).as("its repetition was put off").hasValue(null);
      assertThat(counter.get()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aTakeWhoseCommitWasInterruptedAndCannotBeRepeatedIsInDoubt(TestDatabase database) {
    AtomicBoolean busy = new AtomicBoolean();
    AtomicBoolean interrupted = new AtomicBoolean();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && busy.get()) {
            throw interrupted.getAndSet(true)
                ? new SQLException("Deadlock found when trying to get lock", "40001", 1213)
                : INTERRUPTED.get();
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database);
        SqlStore store = SqlStore.over(tampered(pool, commits));
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(Duration.ZERO))) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      busy.set(true);

      assertThatThrownBy(() -> counter.tryTake(1, OperationId.of("order")))
          .isInstanceOf(OutcomeUnknownException.class);

      busy.set(false);
      assertThat(counter.outcome(OperationId.of("order")).status()).isEqualTo(Status.APPLIED);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aTakeWhoseCommitWasInterruptedIsInDoubtThoughItsRepetitionIsRefused(TestDatabase database) {
    AtomicBoolean revoked = new AtomicBoolean();
    AtomicBoolean interrupted = new AtomicBoolean();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && revoked.get()) {
            throw interrupted.getAndSet(true)
                ? new SQLException("UPDATE command denied to user", "42000", 1142)
                : INTERRUPTED.get();
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database);
        SqlStore store = SqlStore.over(tampered(pool, commits));
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(Duration.ZERO))) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      revoked.set(true);

      assertThatThrownBy(() -> counter.tryTake(1, OperationId.of("order")))
          .isInstanceOf(OutcomeUnknownException.class)
          .cause()
          .hasMessageContaining("denied");

      revoked.set(false);
      assertThat(counter.outcome(OperationId.of("order")).status()).isEqualTo(Status.APPLIED);
    }
  }

  private static HikariDataSource pool(TestDatabase database) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(database.baseUrl());
    pool.setUsername(TestDatabase.USER);
    pool.setPassword(TestDatabase.PASSWORD);
    return pool;
  }

  /** {@code pool}, whose connections are tampered with. */
  private static DataSource tampered(HikariDataSource pool, Tampering ofConnections) {
    return tampered(
        DataSource.class,
        pool,
        (method, arguments, answer) ->
            method.equals("getConnection")
                ? tampered(Connection.class, (Connection) answer, ofConnections)
                : answer);
  }

  /** Else all who wait storm a database that is away. */
  @Test
  void whoeverWaitsAsksForAConnectionLessAndLessOften() throws Exception {
    ConcurrentLinkedQueue<Long> asked = new ConcurrentLinkedQueue<>();
    try (HikariDataSource pool = pool(TestDatabase.MYSQL);
        SqlStore other = TestDatabase.MYSQL.open()) {
      assertThat(other.attempt(Claims.claim(name), standing -> {}))
          .succeedsWithin(Duration.ofMinutes(1));
      Tampering away =
          (method, arguments, answer) -> {
            if (Thread.currentThread().getName().endsWith("-bell")) {
              asked.add(System.nanoTime());
              ((Connection) answer).close();
              throw new SQLException("connection refused", "08001");
            }
            return answer;
          };
      try (SqlStore store = SqlStore.over(tampered(DataSource.class, pool, away))) {
        assertThat(store.attempt(Claims.claim(name), standing -> {}))
            .succeedsWithin(Duration.ofMinutes(1));
        await().atMost(Duration.ofMinutes(1)).until(() -> asked.size() >= 8);
        List<Long> times = List.copyOf(asked);
        assertThat(times.get(7) - times.get(0)).isGreaterThan(600_000_000L);
      }
    }
  }

  /** JDBC allows it, and some wrappers do. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aDataSourceNeedNotSayWhereItLeads(TestDatabase database) {
    try (HikariDataSource pool = pool(database)) {
      Tampering nameless = (method, arguments, answer) -> method.equals("getURL") ? null : answer;
      Tampering connections =
          (method, arguments, answer) ->
              method.equals("getMetaData")
                  ? tampered(DatabaseMetaData.class, (DatabaseMetaData) answer, nameless)
                  : answer;
      try (SqlStore store = SqlStore.over(tampered(pool, connections))) {
        assertThat(store.attempt(Claims.claim(name), standing -> {}))
            .succeedsWithin(Duration.ofMinutes(1));
        assertThat(store.describe()).isEqualTo("the DataSource");
      }
    }
  }

  /** A file that is slow to open. */
  private final class Slow extends SqliteDialect {

    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch opens = new CountDownLatch(1);
    private final CompletableFuture<Connection> opened = new CompletableFuture<>();
    private volatile boolean slow;

    Slow() {
      super(folder.resolve("locks.db"));
    }

    @Override
    public Connection open() throws SQLException {
      if (!slow) {
        return super.open();
      }
      asked.countDown();
      try {
        opens.await();
      } catch (InterruptedException e) {
        throw new SQLException(e);
      }
      Connection connection = super.open();
      opened.complete(connection);
      return connection;
    }
  }

  @Test
  void aConnectionThatComesWhenTheCloseHasGivenUpIsClosed() throws Exception {
    Slow file = new Slow();
    SqlStore store = SqlStore.open(file.database());
    file.slow = true; // counters have a connection of their own
    CompletableFuture<?> answer = CompletableFuture.runAsync(() -> store.read(name));
    file.asked.await();
    store.close();
    file.opens.countDown();
    answer.get(60, SECONDS);
    assertThat(file.opened.get(60, SECONDS).isClosed()).isTrue();
  }

  /** A file whose reader cannot be asked at first. */
  private final class Unreadable extends SqliteDialect {

    private final Queue<Connection> failed = new ConcurrentLinkedQueue<>();

    Unreadable() {
      super(folder.resolve("locks.db"));
    }

    @Override
    public long changes(Connection reader) throws SQLException {
      if (failed.size() < 3) {
        failed.add(reader);
        throw new SQLException("is being recovered by another process");
      }
      return super.changes(reader);
    }
  }

  @Test
  void aPollThatCannotBeginLeavesNoConnectionOpen() throws Exception {
    Unreadable file = new Unreadable();
    try (SqlStore store = SqlStore.open(file.database());
        Pawl other = Pawl.connect("sqlite:" + folder.resolve("locks.db"))) {
      Lease lease = other.lock(name).acquire();
      CompletableFuture<Standing> bell = new CompletableFuture<>();
      store.attempt(Claims.claim(name), bell::complete).toCompletableFuture().get(60, SECONDS);
      lease.close();
      assertThat(bell.get(60, SECONDS)).isInstanceOf(Standing.Held.class);
      assertThat(file.failed).hasSize(3);
      for (Connection connection : file.failed) {
        assertThat(connection.isClosed()).isTrue();
      }
    }
  }

  /** The driver's stack is at its end when the first statement of a connection is made. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void anErrorWhileAConnectionIsSetUpCostsThePoolNoConnection(TestDatabase database)
      throws Exception {
    AtomicBoolean next = new AtomicBoolean();
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      pool.setMaximumPoolSize(1);
      pool.setConnectionTimeout(2_000);
      Tampering statements =
          (method, arguments, answer) -> {
            if (method.equals("createStatement") && next.getAndSet(false)) {
              throw new StackOverflowError("of a driver");
            }
            return answer;
          };
      Tampering connections =
          (method, arguments, answer) ->
              method.equals("getConnection")
                  ? tampered(Connection.class, (Connection) answer, statements)
                  : answer;
      try (SqlStore store = SqlStore.over(tampered(DataSource.class, pool, connections))) {
        next.set(true);
        assertThat(store.attempt(Claims.claim(name), standing -> {}))
            .failsWithin(Duration.ofMinutes(1));
        assertThat(next).as("it has failed").isFalse();
        assertThat(store.attempt(Claims.claim(name), standing -> {}))
            .succeedsWithin(Duration.ofMinutes(1));
      }
    }
  }

  /** As a wrapper of a driver may, or whoever listens to one. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void whatAStatementThrowsAsItIsClosedCostsThePoolNoConnection(TestDatabase database) {
    AtomicBoolean next = new AtomicBoolean();
    Tampering ends =
        (method, arguments, answer) -> {
          if (method.equals("close") && next.getAndSet(false)) {
            throw new IllegalStateException("of a listener");
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database)) {
      pool.setMaximumPoolSize(1);
      pool.setConnectionTimeout(2_000);
      try (SqlStore store = SqlStore.over(tampered(pool, preparing(ends)))) {
        next.set(true);
        assertThat(store.attempt(Claims.claim(name), standing -> {}))
            .succeedsWithin(Duration.ofMinutes(1));
        await().atMost(Duration.ofMinutes(1)).untilFalse(next);
        assertThat(store.attempt(Claims.claim(name + "-2"), standing -> {}))
            .succeedsWithin(Duration.ofMinutes(1));
      }
    }
  }

  /** Its state is not known, as where the look itself has failed. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aConnectionOnWhichALookFailsToEndIsNotReturnedAlive(TestDatabase database) throws Exception {
    AtomicBoolean failed = new AtomicBoolean();
    Queue<String> then = new ConcurrentLinkedQueue<>();
    Tampering ends =
        (method, arguments, answer) -> {
          if (method.equals("close") && looks() && !failed.getAndSet(true)) {
            throw new SQLException("is gone", "08006");
          }
          return answer;
        };
    Tampering returns =
        (method, arguments, answer) -> {
          if (Set.of("abort", "close").contains(method) && looks() && failed.get()) {
            then.add(method);
          }
          return preparing(ends).after(method, arguments, answer);
        };
    try (HikariDataSource pool = pool(database);
        SqlStore other = database.open();
        SqlStore store = SqlStore.over(tampered(pool, returns))) {
      other.attempt(Claims.claim(name), standing -> {}).toCompletableFuture().get(60, SECONDS);
      store.attempt(Claims.claim(name), standing -> {}).toCompletableFuture().get(60, SECONDS);
      await().atMost(Duration.ofMinutes(1)).until(() -> !then.isEmpty());
      assertThat(then.peek()).isEqualTo("abort");
    }
  }

  private static boolean looks() {
    return Thread.currentThread().getName().endsWith("-bell");
  }

  /** Of connections, whose statements are tampered with. */
  private static Tampering preparing(Tampering ofStatements) {
    return (method, arguments, answer) ->
        method.equals("prepareStatement")
            ? tampered(PreparedStatement.class, (PreparedStatement) answer, ofStatements)
            : answer;
  }

  /** The row is deleted, and its tokens are not kept yet; the close has waited for 5 s. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p2_whoeverAsksAClosedStoreToForgetCommitsNothingThatIsUnderWay(TestDatabase database)
      throws Exception {
    CountDownLatch deleted = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    Tampering slow =
        (method, arguments, answer) -> {
          if (method.equals("prepareStatement")
              && arguments[0].toString().startsWith("UPDATE pawl_forgotten")) {
            deleted.countDown();
            Uninterruptibly.await(goesOn, SECONDS.toNanos(60));
          }
          return answer;
        };
    try (HikariDataSource pool = pool(database);
        Connection somebody = database.connect();
        Statement statement = somebody.createStatement()) {
      SqlStore store = SqlStore.over(tampered(pool, slow));
      store.setKind(name, Kind.LOCK).toCompletableFuture().get(60, SECONDS);
      statement.execute(
          "UPDATE pawl_lock SET used = '2020-01-01', last_token = last_token + 1000000 WHERE name ="
              + " '"
              + name
              + "'");
      long last = lastToken(statement);
      CompletableFuture<Long> forgets = store.purge(Duration.ofHours(1)).toCompletableFuture();
      deleted.await();
      store.close();
      assertThat(store.purge(Duration.ofHours(1))).failsWithin(Duration.ofMinutes(1));
      goesOn.countDown();
      forgets.handle((purged, failure) -> purged).get(60, SECONDS);

      try (SqlStore other = database.open()) {
        assertThat(other.attempt(Claims.claim(name), bell -> {}))
            .succeedsWithin(Duration.ofMinutes(1))
            .isInstanceOfSatisfying(
                Standing.Held.class, held -> assertThat(held.token()).isGreaterThan(last));
      }
    }
  }

  private long lastToken(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery("SELECT last_token FROM pawl_lock WHERE name = '" + name + "'")) {
      row.next();
      return row.getLong(1);
    }
  }
}
