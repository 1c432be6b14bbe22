package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import io.pawl.sql.Tampered.Tampering;
import io.pawl.sql.dialect.SqliteDialect;
import io.pawl.sql.transaction.Tally;
import io.pawl.sql.transaction.Transactions;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a driver, or the JVM under it, does to connections at the worst moment. */
class DriverTroubleTest {

  private static final AtomicInteger names = new AtomicInteger();

  @TempDir Path folder;

  private final String name = "trouble-" + names.incrementAndGet();

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

  /** Else all who wait storm a database that is away. */
  @Test
  void whoeverWaitsAsksForAConnectionLessAndLessOften() throws Exception {
    ConcurrentLinkedQueue<Long> asked = new ConcurrentLinkedQueue<>();
    try (HikariDataSource pool = Tampered.pool(TestDatabase.MYSQL);
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
      try (SqlStore store = SqlStore.over(Tampered.of(DataSource.class, pool, away))) {
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
    try (HikariDataSource pool = Tampered.pool(database)) {
      Tampering nameless = (method, arguments, answer) -> method.equals("getURL") ? null : answer;
      Tampering connections =
          (method, arguments, answer) ->
              method.equals("getMetaData")
                  ? Tampered.of(DatabaseMetaData.class, (DatabaseMetaData) answer, nameless)
                  : answer;
      try (SqlStore store = SqlStore.over(Tampered.of(pool, connections))) {
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
    try (HikariDataSource pool = Tampered.pool(database)) {
      pool.setMaximumPoolSize(1);
      pool.setConnectionTimeout(2_000);
      Tampering statements =
          (method, arguments, answer) -> {
            if (method.equals("createStatement") && next.getAndSet(false)) {
              throw new StackOverflowError("of a driver");
            }
            return answer;
          };
      try (SqlStore store = SqlStore.over(Tampered.of(pool, statements))) {
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
    try (HikariDataSource pool = Tampered.pool(database)) {
      pool.setMaximumPoolSize(1);
      pool.setConnectionTimeout(2_000);
      try (SqlStore store = SqlStore.over(Tampered.of(pool, Tampered.preparing(ends)))) {
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
          return Tampered.preparing(ends).after(method, arguments, answer);
        };
    try (HikariDataSource pool = Tampered.pool(database);
        SqlStore other = database.open();
        SqlStore store = SqlStore.over(Tampered.of(pool, returns))) {
      other.attempt(Claims.claim(name), standing -> {}).toCompletableFuture().get(60, SECONDS);
      store.attempt(Claims.claim(name), standing -> {}).toCompletableFuture().get(60, SECONDS);
      await().atMost(Duration.ofMinutes(1)).until(() -> !then.isEmpty());
      assertThat(then.peek()).isEqualTo("abort");
    }
  }

  private static boolean looks() {
    return Thread.currentThread().getName().endsWith("-bell");
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
    try (HikariDataSource pool = Tampered.pool(database);
        Connection somebody = database.connect();
        Statement statement = somebody.createStatement()) {
      SqlStore store = SqlStore.over(Tampered.of(pool, slow));
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
