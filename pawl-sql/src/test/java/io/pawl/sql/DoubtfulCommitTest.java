package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Counter;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.OperationId;
import io.pawl.counter.Outcome.Status;
import io.pawl.counter.OutcomeUnknownException;
import io.pawl.counter.Update;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.PawlOptions;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Operation;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.rule.CounterState;
import io.pawl.sql.Tampered.Tampering;
import io.pawl.sql.counter.CounterCombiner;
import io.pawl.sql.counter.PendingOperation;
import io.pawl.sql.dialect.Database;
import io.pawl.sql.dialect.Databases;
import io.pawl.sql.dialect.SqlStates;
import io.pawl.sql.dialect.SqliteDialect;
import io.pawl.sql.transaction.Session;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is told where a driver, or the JVM under it, fails at or after a commit. */
class DoubtfulCommitTest {

  private static final AtomicInteger names = new AtomicInteger();

  /** What MySQL and MariaDB say where a statement is killed. */
  private static final Supplier<SQLException> INTERRUPTED =
      () -> new SQLException("Query execution was interrupted", "70100", 1317);

  @TempDir Path folder;

  private final String name = "doubt-" + names.incrementAndGet();

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
      return Tampered.of(Connection.class, super.open(), this::prepared);
    }

    private Object prepared(String method, Object[] arguments, Object answer) {
      return method.equals("prepareStatement") && arguments[0].equals("COMMIT")
          ? Tampered.of(PreparedStatement.class, (PreparedStatement) answer, this::committed)
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
    isToldById(DoubtfulCommitTest::runOutOfMemory);
  }

  @Test
  void whatWasCommittedWhenTheDriverFailedIsToldById() {
    isToldById(DoubtfulCommitTest::misreadAnAnswer);
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
    Failing file = new Failing(DoubtfulCommitTest::runOutOfMemory);
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
                            Tampered.of(PreparedStatement.class, update, file::after), true);
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
    try (HikariDataSource pool = Tampered.pool(database);
        SqlStore store = SqlStore.over(Tampered.of(pool, commits));
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
            stranger.set(lockingTheRow(database));
            throw INTERRUPTED.get();
          }
          if (method.equals("commit") && stranger.get() != null) {
            stranger.getAndSet(null).close();
          }
          return answer;
        };
    try (HikariDataSource pool = Tampered.pool(database);
        SqlStore store = SqlStore.over(Tampered.of(pool, commits));
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

  /** Its repetition is put off until nobody waits for it any more. */
  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void p7_conservation_aTakeWhoseCommitWasInterruptedIsInDoubtWhereItsRowStaysLocked(
      TestDatabase database) throws SQLException {
    AtomicBoolean next = new AtomicBoolean();
    AtomicReference<Connection> stranger = new AtomicReference<>();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && next.getAndSet(false)) {
            stranger.set(lockingTheRow(database));
            throw INTERRUPTED.get();
          }
          return answer;
        };
    try (HikariDataSource pool = Tampered.pool(database);
        SqlStore store = SqlStore.over(Tampered.of(pool, commits));
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(Duration.ZERO))) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      next.set(true);

      assertThatThrownBy(() -> counter.tryTake(1, OperationId.of("order")))
          .isInstanceOf(OutcomeUnknownException.class)
          .cause()
          .hasMessageContaining("pawl_counter locked");

      stranger.get().close();
      assertThat(counter.outcome(OperationId.of("order")).status()).isEqualTo(Status.APPLIED);
    }
  }

  /** A connection in a transaction that keeps the counter's row. */
  private Connection lockingTheRow(TestDatabase database) throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.executeQuery(
          "SELECT value FROM pawl_counter WHERE name = '" + name + "' FOR UPDATE");
    }
    return connection;
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aTakeWhoseCommitWasInterruptedAndCannotBeRepeatedIsInDoubt(TestDatabase database) {
    String deadlock = "Deadlock found when trying to get lock";
    assertInDoubt(database, new SQLException(deadlock, "40001", 1213));
  }

  @ParameterizedTest
  @EnumSource(names = {"MYSQL", "MARIADB"})
  void aTakeWhoseCommitWasInterruptedIsInDoubtThoughItsRepetitionIsRefused(TestDatabase database) {
    String denied = "UPDATE command denied to user";
    assertInDoubt(database, new SQLException(denied, "42000", 1142))
        .cause()
        .hasMessageContaining("denied");
  }

  /**
   * @param ofTheRepetition what the commits after the interrupted one fail with
   */
  private AbstractThrowableAssert<?, ?> assertInDoubt(
      TestDatabase database, SQLException ofTheRepetition) {
    AtomicBoolean fails = new AtomicBoolean();
    AtomicBoolean interrupted = new AtomicBoolean();
    Tampering commits =
        (method, arguments, answer) -> {
          if (method.equals("commit") && fails.get()) {
            throw interrupted.getAndSet(true) ? ofTheRepetition : INTERRUPTED.get();
          }
          return answer;
        };
    try (HikariDataSource pool = Tampered.pool(database);
        SqlStore store = SqlStore.over(Tampered.of(pool, commits));
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().patience(Duration.ZERO))) {
      Counter counter = pawl.counter(name);
      counter.update(Update.set(2));
      fails.set(true);
      AbstractThrowableAssert<?, ?> told =
          assertThatThrownBy(() -> counter.tryTake(1, OperationId.of("order")))
              .isInstanceOf(OutcomeUnknownException.class);
      fails.set(false);

      assertThat(counter.outcome(OperationId.of("order")).status()).isEqualTo(Status.APPLIED);
      return told;
    }
  }
}
