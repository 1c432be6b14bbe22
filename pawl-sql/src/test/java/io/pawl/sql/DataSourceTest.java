package io.pawl.sql;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Change;
import io.pawl.counter.Update;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.options.LockObserver;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Operation;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The application's pool: of one connection, not in autocommit, isolated in its own way. */
class DataSourceTest {

  private static final AtomicInteger names = new AtomicInteger();
  private static final LockOptions STEADY = LockOptions.defaults().lease(Duration.ofMinutes(5));

  private final String name = "pool-" + names.incrementAndGet();

  private static HikariDataSource poolOfOne(TestDatabase database) {
    HikariDataSource pool = new HikariDataSource();
    pool.setJdbcUrl(database.baseUrl());
    pool.setUsername(TestDatabase.USER);
    pool.setPassword(TestDatabase.PASSWORD);
    pool.setMaximumPoolSize(1);
    pool.setAutoCommit(false);
    pool.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
    pool.setConnectionTimeout(10_000);
    return pool;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aPoolOfOneIsEnoughForHoldersAndWaiters(TestDatabase database) throws Exception {
    try (HikariDataSource pool = poolOfOne(database);
        LockStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store);
        Pawl other = Pawl.connect(database.url())) {
      Lease lease = other.lock(name, STEADY).acquire();
      CompletableFuture<Optional<Lease>> waiting =
          pawl.lock(name, STEADY).tryAcquireAsync(Duration.ofMinutes(1));
      Lease held = pawl.lock(name + "-held", STEADY).acquire();
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.getAutoCommit()).as("none is held meanwhile").isFalse();
      }
      lease.close();
      assertThat(waiting.get(60, SECONDS)).isPresent();
      held.close();
    }
  }

  /** Else a bell would ring for a grant that is rolled back. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void whatIsNotCommittedIsNotRead(TestDatabase database) throws Exception {
    try (HikariDataSource pool = poolOfOne(database)) {
      pool.setTransactionIsolation("TRANSACTION_READ_UNCOMMITTED");
      try (SqlStore store = SqlStore.over(pool);
          SqlStore other = database.open();
          Connection somebody = database.connect();
          Statement statement = somebody.createStatement()) {
        other.attempt(Claims.claim(name), bell -> {}).toCompletableFuture().get(60, SECONDS);
        somebody.setAutoCommit(false);
        statement.execute("UPDATE pawl_lock SET last_token = 7 WHERE name = '" + name + "'");
        try {
          assertThat(Stored.show(store, name).lastToken()).isNotEqualTo(7);
        } finally {
          somebody.rollback();
        }
        try (Connection connection = pool.getConnection()) {
          assertThat(connection.getTransactionIsolation())
              .isEqualTo(Connection.TRANSACTION_READ_UNCOMMITTED);
        }
      }
    }
  }

  @Test
  void whatIsNotCommittedIsNotReadByOurOwnConnectionsEither() throws Exception {
    String url =
        TestDatabase.MYSQL.url() + "&sessionVariables=transaction_isolation='READ-UNCOMMITTED'";
    try (SqlStore store = (SqlStore) Stores.open(StoreUrl.parse(url));
        Connection somebody = TestDatabase.MYSQL.connect();
        Statement statement = somebody.createStatement()) {
      store.attempt(Claims.claim(name), bell -> {}).toCompletableFuture().get(60, SECONDS);
      somebody.setAutoCommit(false);
      statement.execute("UPDATE pawl_lock SET last_token = 7 WHERE name = '" + name + "'");
      try {
        assertThat(Stored.show(store, name).lastToken()).isNotEqualTo(7);
      } finally {
        somebody.rollback();
      }
    }
  }

  /** One thread stands in a transaction on the only connection when others ask. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aPoolOfOneIsEnoughToReadALedgerWhileOthersCount(TestDatabase database) throws Exception {
    try (HikariDataSource pool = poolOfOne(database);
        Connection somebody = database.connect()) {
      aLedgerIsReadWhileOthersCount(pool, somebody);
    }
  }

  private void aLedgerIsReadWhileOthersCount(HikariDataSource pool, Connection somebody)
      throws Exception {
    try (SqlStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store)) {
      pawl.counter(name).update(Update.set(5));
      lockCounter(somebody);
      CompletableFuture<Change> take = pawl.counter(name).async().tryTake(1);
      awaitBusy(pool);
      CompletableFuture<List<LedgerEntry>> history = store.history(name, 10).toCompletableFuture();
      CompletableFuture<Long> pruned =
          store.prune(name, Instant.now().minusSeconds(3_600)).toCompletableFuture();

      somebody.rollback();

      assertThat(take.get(60, SECONDS)).isEqualTo(new Change.Applied(4));
      assertThat(pruned.get(60, SECONDS)).isZero();
      assertThat(history.get(60, SECONDS)).extracting(LedgerEntry::change).contains(5L);
    }
  }

  /** Who watches a leader looks from the one thread that sees to renewals. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aLookThatAwaitsTheOnlyConnectionKeepsNotItsCaller(TestDatabase database) throws Exception {
    try (HikariDataSource pool = poolOfOne(database);
        SqlStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store)) {
      Lease lease = pawl.lock(name, STEADY).acquire();
      CompletableFuture<Optional<LockView>> one;
      CompletableFuture<List<LockView>> all;
      try (Connection applications = pool.getConnection()) {
        assertThat(applications.isValid(10)).isTrue();
        one = store.show(name).toCompletableFuture();
        all = store.list(1).toCompletableFuture();
      }
      assertThat(one.get(60, SECONDS)).isPresent();
      assertThat(all.get(60, SECONDS)).hasSize(1);
      lease.close();
    }
  }

  /** The next request is there whenever the one before is answered. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void othersGetTheOnlyConnectionThoughSomebodyAlwaysAsks(TestDatabase database) throws Exception {
    AtomicBoolean asks = new AtomicBoolean(true);
    try (HikariDataSource pool = poolOfOne(database);
        SqlStore store = SqlStore.over(pool)) {
      CompletableFuture<Void> locks = lockForEver(store, asks);
      awaitBusy(pool);
      pool.getConnection().close();
      CompletableFuture<Void> counters = countForEver(store, asks);
      for (int i = 0; i < 10; i++) {
        pool.getConnection().close();
      }
      assertThat(locks).isNotDone();
      assertThat(counters).isNotDone();
      asks.set(false);
      assertThat(locks).succeedsWithin(Duration.ofMinutes(1));
      assertThat(counters).succeedsWithin(Duration.ofMinutes(1));
    } finally {
      asks.set(false);
    }
  }

  private CompletableFuture<Void> lockForEver(SqlStore store, AtomicBoolean asks) {
    Claim claim = Claims.claim(name);
    return store
        .attempt(claim, standing -> {})
        .thenCompose(standing -> store.withdraw(claim))
        .thenCompose(gone -> asks.get() ? lockForEver(store, asks) : done())
        .toCompletableFuture();
  }

  private CompletableFuture<Void> countForEver(SqlStore store, AtomicBoolean asks) {
    String id = "count-" + names.incrementAndGet();
    return store
        .apply(CounterRequest.of(name + "-counter", id, 0, new Operation.Add(1), false))
        .thenCompose(answer -> asks.get() ? countForEver(store, asks) : done())
        .toCompletableFuture();
  }

  private static CompletableFuture<Void> done() {
    return CompletableFuture.completedFuture(null);
  }

  private void lockCounter(Connection somebody) throws SQLException {
    somebody.setAutoCommit(false);
    try (PreparedStatement select =
        somebody.prepareStatement("SELECT name FROM pawl_counter WHERE name = ? FOR UPDATE")) {
      select.setString(1, name);
      select.executeQuery().close();
    }
  }

  private static void awaitBusy(HikariDataSource pool) {
    while (pool.getHikariPoolMXBean().getActiveConnections() == 0) {
      Thread.onSpinWait();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aConnectionGoesBackAsItCame(TestDatabase database) throws Exception {
    try (HikariDataSource pool = poolOfOne(database);
        LockStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store)) {
      for (int i = 0; i < 3; i++) {
        pawl.lock(name).acquire().close();
        try (Connection connection = pool.getConnection();
            Statement statement = connection.createStatement()) {
          assertThat(connection.getAutoCommit()).isFalse();
          assertThat(connection.getTransactionIsolation())
              .isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
          assertThat(isolationOnTheServer(database, statement))
              .isEqualToIgnoringCase("serializable");
          if (database != TestDatabase.POSTGRES) {
            String waits = "SELECT @@innodb_lock_wait_timeout, @@lock_wait_timeout";
            try (ResultSet row = statement.executeQuery(waits)) {
              row.next();
              assertThat(row.getInt(1)).as("as the server was started with").isEqualTo(5);
              assertThat(row.getInt(2)).as("as the server has it").isGreaterThan(1);
            }
          }
          connection.rollback();
        }
      }
    }
  }

  private static String isolationOnTheServer(TestDatabase database, Statement statement)
      throws SQLException {
    String query =
        switch (database) {
          case MYSQL, MARIADB -> "SELECT @@transaction_isolation";
          default -> "SHOW transaction_isolation";
        };
    try (ResultSet row = statement.executeQuery(query)) {
      row.next();
      return row.getString(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void theCallersTransactionRollsBackAndTheLockIsUnaffected(TestDatabase database)
      throws Exception {
    try (HikariDataSource pool = poolOfOne(database)) {
      pool.setMaximumPoolSize(2);
      try (LockStore store = SqlStore.over(pool);
          Pawl pawl = Pawl.over(store);
          Pawl other = Pawl.connect(database.url())) {
        Lease lease;
        try (Connection connection = pool.getConnection();
            Statement statement = connection.createStatement()) {
          statement.executeQuery("SELECT count(*) FROM pawl_schema").close();
          lease = pawl.lock(name).acquire();
          connection.rollback();
        }
        assertThat(lease.isValid()).isTrue();
        assertThat(other.lock(name).tryAcquire()).isEmpty();
        lease.close();
        assertThat(other.lock(name).tryAcquire()).isPresent();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void anExhaustedPoolIsAnErrorInTimeAndAStoreByUrlNeverNotices(TestDatabase database)
      throws Exception {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ZERO);
    LockOptions brief = LockOptions.defaults().lease(Duration.ofSeconds(2));
    try (HikariDataSource pool = poolOfOne(database);
        LockStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store, impatient);
        Pawl byUrl = Pawl.connect(database.url());
        Lease renewed = byUrl.lock(name + "-renewed", brief).acquire()) {
      CompletableFuture<Void> lost = new CompletableFuture<>();
      renewed.onLost(() -> lost.complete(null));
      try (Connection taken = pool.getConnection()) {
        assertThat(taken.isClosed()).isFalse();
        for (int i = 0; i < 3; i++) {
          assertThatThrownBy(() -> pawl.lock(name).tryAcquire())
              .isInstanceOf(StoreUnavailableException.class);
        }
        assertThat(lost).isNotDone();
      }
      assertThat(pawl.lock(name).tryAcquire()).isPresent();
      renewed.ensureValid();
    }
  }

  /** It says so without a SQLSTATE, as most pools do. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void p8_whatIsGivenBackWhileThePoolIsExhaustedIsGivenBackOnceItIsNot(TestDatabase database)
      throws Exception {
    CountDownLatch failed = new CountDownLatch(1);
    LockObserver observer =
        new LockObserver() {
          @Override
          public void storeFailed(String lock, StoreException failure) {
            failed.countDown();
          }
        };
    try (AgroalDataSource pool = AgroalDataSource.from(impatientPoolOfOne(database));
        SqlStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store, PawlOptions.defaults().observer(observer));
        Pawl other = Pawl.connect(database.url())) {
      Lease lease = pawl.lock(name, STEADY).acquire();
      CompletableFuture<Void> released;
      try (Connection taken = pool.getConnection()) {
        assertThat(taken.isValid(10)).isTrue();
        assertThat(store.attempt(Claims.claim(name + "-2"), bell -> {}))
            .failsWithin(Duration.ofMinutes(1))
            .withThrowableOfType(ExecutionException.class)
            .withCauseInstanceOf(StoreUnavailableException.class);
        released = lease.closeAsync();
        assertThat(failed.await(60, SECONDS)).isTrue();
      }
      released.get(60, SECONDS);
      other.lock(name).acquire().close();
    }
  }

  /** As DBCP's does when it connects for the first time. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aWrongPasswordIsDeniedThoughThePoolNamesItOnlyInTheCause(TestDatabase database) {
    DataSource pool =
        connectingTo(
            TestDatabase.withUser(database.baseUrl(), TestDatabase.USER, "wrong"), Wrapping.ALL);

    assertThatThrownBy(() -> SqlStore.over(pool))
        .isInstanceOf(StoreDeniedException.class)
        .hasMessageContaining("cannot connect");
  }

  @Test
  void aPasswordThatIsMissingIsDeniedByPostgresOverAPoolToo() {
    String unsaid = TestDatabase.POSTGRES.baseUrl() + "?user=" + TestDatabase.USER;

    for (Wrapping wrapping : Wrapping.values()) {
      assertThatThrownBy(() -> SqlStore.over(connectingTo(unsaid, wrapping)))
          .as(wrapping.name())
          .isInstanceOf(StoreDeniedException.class);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aDatabaseThatIsMissingIsAMatterOfConfigurationOverAPoolToo(TestDatabase database) {
    String missing =
        TestDatabase.withUser(database.baseUrl().replaceFirst("(//[^/]+/)\\w+", "$1none"));

    for (Wrapping wrapping : Wrapping.values()) {
      assertThatThrownBy(() -> SqlStore.over(connectingTo(missing, wrapping)))
          .as(wrapping.name())
          .isInstanceOf(StoreConfigurationException.class);
    }
  }

  /** MySQL and PostgreSQL have one SQLSTATE for this and for a password that is missing. */
  @Test
  void tooManyConnectionsAreNoDenialOverAPool() {
    SQLException full =
        new SQLNonTransientConnectionException("Too many connections", "08004", 1040);

    for (Wrapping wrapping : Wrapping.values()) {
      DataSource pool =
          lending(
              () -> {
                throw wrapping.of(full);
              });
      assertThatThrownBy(() -> SqlStore.over(pool))
          .as(wrapping.name())
          .isInstanceOf(StoreUnavailableException.class);
    }
  }

  /** What a pool makes of what the driver has said. */
  private enum Wrapping {
    NOTHING,
    ALL,
    /** As HikariCP's does before version 6. */
    ALL_BUT_THE_STATE;

    SQLException of(SQLException e) {
      String message = "cannot connect (" + e.getMessage() + ")";
      return switch (this) {
        case NOTHING -> e;
        case ALL -> new SQLException(message, e);
        case ALL_BUT_THE_STATE -> new SQLTransientConnectionException(message, e.getSQLState(), e);
      };
    }
  }

  /** A pool that has no connection yet. */
  private static DataSource connectingTo(String url, Wrapping wrapping) {
    return lending(
        () -> {
          try {
            return DriverManager.getConnection(url);
          } catch (SQLException e) {
            throw wrapping.of(e);
          }
        });
  }

  private static DataSource lending(Callable<Connection> connection) {
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> connection.call());
  }

  private static AgroalDataSourceConfigurationSupplier impatientPoolOfOne(TestDatabase database) {
    return new AgroalDataSourceConfigurationSupplier()
        .connectionPoolConfiguration(
            pool ->
                pool.maxSize(1)
                    .acquisitionTimeout(Duration.ofSeconds(1))
                    .connectionFactoryConfiguration(
                        driver ->
                            driver
                                .jdbcUrl(database.baseUrl())
                                .principal(new NamePrincipal(TestDatabase.USER))
                                .credential(new SimplePassword(TestDatabase.PASSWORD))));
  }
}
