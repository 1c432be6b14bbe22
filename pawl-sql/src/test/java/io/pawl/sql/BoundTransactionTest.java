package io.pawl.sql;

import static org.assertj.core.api.Assertions.assertThat;

import com.arjuna.ats.arjuna.common.CoreEnvironmentBean;
import com.arjuna.ats.arjuna.common.ObjectStoreEnvironmentBean;
import com.arjuna.ats.internal.arjuna.objectstore.VolatileStore;
import com.arjuna.ats.internal.jta.transaction.arjunacore.TransactionSynchronizationRegistryImple;
import com.arjuna.common.internal.util.propertyservice.BeanPopulator;
import com.zaxxer.hikari.HikariDataSource;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import io.agroal.api.security.NamePrincipal;
import io.agroal.api.security.SimplePassword;
import io.agroal.narayana.NarayanaTransactionIntegration;
import io.pawl.Counter;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.counter.Update;
import jakarta.transaction.TransactionManager;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Pools that hand the thread's own transaction to whoever asks for a connection, as frameworks do.
 */
class BoundTransactionTest {

  private static final AtomicInteger names = new AtomicInteger();

  private final String name = "bound-" + names.incrementAndGet();

  private void insert(DataSource pool) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("INSERT INTO app_order VALUES ('" + name + "')");
    }
  }

  private int inserted(TestDatabase database) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet count =
            statement.executeQuery("SELECT count(*) FROM app_order WHERE id = '" + name + "'")) {
      count.next();
      return count.getInt(1);
    }
  }

  private static void createTable(TestDatabase database) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS app_order (id VARCHAR(50))");
    }
  }

  /** Everything that a store does, in a transaction of the caller's. */
  private void use(DataSource pool, Pawl other) throws Exception {
    insert(pool);
    try (SqlStore store = SqlStore.over(pool);
        Pawl pawl = Pawl.over(store)) {
      Lease busy = other.lock(name + "-busy").acquire();
      try (Lease lease = pawl.lock(name).acquire()) {
        assertThat(other.lock(name).tryAcquire()).as("is committed").isEmpty();
        assertThat(pawl.lock(name + "-busy").tryAcquire(Duration.ofMillis(50))).isEmpty();
        assertThat(Stored.show(store, name).holders()).hasSize(1);
        assertThat(store.list(10).toCompletableFuture().join()).isNotEmpty();
        assertThat(store.diagnose()).isNotEmpty();
        assertThat(lease.isValid()).isTrue();
      }
      pawl.lockAll(name, name + "-2").acquire().close();
      Counter counter = pawl.counter(name + "-counter");
      counter.update(Update.set(3));
      assertThat(other.counter(name + "-counter").get()).isEqualTo(3);
      assertThat(counter.ledger().history(10)).isNotEmpty();
      counter.ledger().prune(Instant.EPOCH);
      pawl.maintenance().purge(Duration.ofDays(3_650));
      pawl.maintenance().raiseTokens(1);
      busy.close();
    }
    try (Lease given = other.lock(name).acquire()) {
      assertThat(given.isValid()).as("was given back").isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aTransactionOfSpringsIsNeitherUsedNorCommitted(TestDatabase database) throws Exception {
    createTable(database);
    try (HikariDataSource pool = new HikariDataSource();
        Pawl other = Pawl.connect(database.url())) {
      pool.setJdbcUrl(database.baseUrl());
      pool.setUsername(TestDatabase.USER);
      pool.setPassword(TestDatabase.PASSWORD);
      pool.setMaximumPoolSize(4);
      TransactionTemplate transaction =
          new TransactionTemplate(new DataSourceTransactionManager(pool));
      DataSource aware = new TransactionAwareDataSourceProxy(pool);
      transaction.executeWithoutResult(
          status -> {
            try {
              use(aware, other);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            status.setRollbackOnly();
          });
      assertThat(inserted(database)).as("was rolled back").isZero();
      transaction.executeWithoutResult(
          status -> {
            try {
              use(aware, other);
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          });
      assertThat(inserted(database)).as("was committed by its own").isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "SQLITE")
  void aTransactionOfJtaIsNeitherUsedNorCommitted(TestDatabase database) throws Exception {
    createTable(database);
    TransactionManager transactions = narayana();
    try (AgroalDataSource pool = AgroalDataSource.from(agroal(database, transactions));
        Pawl other = Pawl.connect(database.url())) {
      transactions.begin();
      try {
        use(pool, other);
      } finally {
        transactions.rollback();
      }
      assertThat(inserted(database)).as("was rolled back").isZero();
      transactions.begin();
      use(pool, other);
      transactions.commit();
      assertThat(inserted(database)).as("was committed by its own").isEqualTo(1);
    }
  }

  /** Its log in memory. */
  private static TransactionManager narayana() throws Exception {
    BeanPopulator.getDefaultInstance(CoreEnvironmentBean.class).setNodeIdentifier("test");
    for (String store : new String[] {null, "communicationStore", "stateStore"}) {
      BeanPopulator.getNamedInstance(ObjectStoreEnvironmentBean.class, store)
          .setObjectStoreType(VolatileStore.class.getName());
    }
    return com.arjuna.ats.jta.TransactionManager.transactionManager();
  }

  private static AgroalDataSourceConfigurationSupplier agroal(
      TestDatabase database, TransactionManager transactions) {
    return new AgroalDataSourceConfigurationSupplier()
        .connectionPoolConfiguration(
            pool ->
                pool.maxSize(4)
                    .acquisitionTimeout(Duration.ofSeconds(20))
                    .transactionIntegration(
                        new NarayanaTransactionIntegration(
                            transactions, new TransactionSynchronizationRegistryImple()))
                    .connectionFactoryConfiguration(
                        driver ->
                            driver
                                .jdbcUrl(database.baseUrl())
                                .principal(new NamePrincipal(TestDatabase.USER))
                                .credential(new SimplePassword(TestDatabase.PASSWORD))));
  }
}
