package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.error.StaleTokenException;
import io.pawl.servers.PostgresServer;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Fences, transactions within transactions, and several databases. */
class FencingTest {

  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  /** A wait of a thread for itself ends, and its test fails. */
  private static final String NO_ENDLESS_WAITS = "lock_timeout=20s";

  private static PostgresServer server;
  private static HikariDataSource plain;
  private static JdbcTemplate table;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start(NO_ENDLESS_WAITS);
    plain = new HikariDataSource();
    plain.setJdbcUrl(server.jdbcUrl());
    plain.setUsername(PostgresServer.USER);
    plain.setPassword(PostgresServer.PASSWORD);
    plain.setMaximumPoolSize(6);
    table = new JdbcTemplate(plain);
    table.execute("CREATE TABLE shipped (id BIGINT PRIMARY KEY)");
  }

  @AfterAll
  static void stopServer() {
    plain.close();
    server.close();
  }

  @BeforeEach
  void empty() {
    table.update("DELETE FROM shipped");
    table.execute("DROP TABLE IF EXISTS pawl_fence");
  }

  private static List<Long> shipped() {
    return table.queryForList("SELECT id FROM shipped ORDER BY id", Long.class);
  }

  static class Shop {

    private final JdbcTemplate jdbc;

    Shop(DataSource dataSource) {
      this.jdbc = new JdbcTemplate(dataSource);
    }

    @Locked(name = "orders", fenced = true)
    @Transactional("transactions")
    public void ship(long id, Runnable andThen) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
      andThen.run();
    }

    @Locked(name = "orders", fenced = true)
    @Transactional(value = "transactions", isolation = Isolation.REPEATABLE_READ)
    public void shipRepeatableRead(long id, Runnable andThen) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
      andThen.run();
    }

    @Locked(
        names = {"stock", "orders"},
        fenced = true)
    @Transactional("transactions")
    public void shipFromStock(long id, Runnable andThen) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
      andThen.run();
    }

    @Locked(name = "orders", fenced = true)
    public void withTransactionsOfItsOwn(Runnable body) {
      body.run();
    }
  }

  private static void staysOpen(BeanDefinition bean) {
    bean.setDestroyMethodName("");
  }

  private static ApplicationContextRunner application(DataSource dataSource) {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                AopAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                PawlAutoConfiguration.class,
                LockedAutoConfiguration.class))
        .withBean("dataSource", DataSource.class, () -> dataSource, FencingTest::staysOpen)
        .withBean(
            "transactions",
            PlatformTransactionManager.class,
            () -> new DataSourceTransactionManager(dataSource),
            bean -> bean.setPrimary(true))
        .withBean(Shop.class, () -> new Shop(dataSource));
  }

  private static void with(ApplicationContextRunner application, Consumer<ApplicationContext> use) {
    application.run(use::accept);
  }

  private static void within(PlatformTransactionManager transactions, int way, long id) {
    TransactionTemplate template = new TransactionTemplate(transactions);
    template.setPropagationBehavior(way);
    template.executeWithoutResult(status -> table(transactions).update(insert(), id));
  }

  private static JdbcTemplate table(PlatformTransactionManager transactions) {
    return new JdbcTemplate(((DataSourceTransactionManager) transactions).getDataSource());
  }

  private static String insert() {
    return "INSERT INTO shipped VALUES (?)";
  }

  @Test
  void anIndependentTransactionMayFollowASavepoint() {
    with(
        application(plain),
        application -> {
          PlatformTransactionManager transactions =
              application.getBean(PlatformTransactionManager.class);
          application
              .getBean(Shop.class)
              .ship(
                  1,
                  () -> {
                    within(transactions, TransactionDefinition.PROPAGATION_NESTED, 2);
                    within(transactions, TransactionDefinition.PROPAGATION_REQUIRES_NEW, 3);
                  });
          assertThat(shipped()).containsExactly(1L, 2L, 3L);
        });
  }

  @Test
  void anIndependentTransactionDoesNotOvertakeTheOneAroundIt() {
    with(
        application(plain),
        application -> {
          PlatformTransactionManager transactions =
              application.getBean(PlatformTransactionManager.class);
          application
              .getBean(Shop.class)
              .shipRepeatableRead(
                  1, () -> within(transactions, TransactionDefinition.PROPAGATION_REQUIRES_NEW, 2));
          assertThat(shipped()).containsExactly(1L, 2L);
        });
  }

  @Test
  void aFenceOfSeveralLocksComparesTheTokenOfEach() {
    with(
        application(plain),
        application -> {
          Shop shop = application.getBean(Shop.class);
          shop.shipFromStock(1, () -> {});
          for (String lock : List.of("orders", "stock")) {
            Runnable overtaken =
                () ->
                    CompletableFuture.runAsync(
                            () ->
                                table.update(
                                    "UPDATE pawl_fence SET token = token + 1 WHERE name = ?", lock),
                            OWN_THREAD)
                        .join();
            assertThatThrownBy(() -> shop.shipFromStock(2, overtaken))
                .isInstanceOf(StaleTokenException.class);
          }
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aTransactionWithAnOlderSnapshotHearsOfAConcurrentChangeWhenItWasOvertaken() {
    with(
        application(plain),
        application -> {
          Runnable overtaken =
              () ->
                  CompletableFuture.runAsync(
                          () ->
                              table.update(
                                  "UPDATE pawl_fence SET token = token + 1 WHERE name = 'orders'"),
                          OWN_THREAD)
                      .join();
          assertThatThrownBy(() -> application.getBean(Shop.class).shipRepeatableRead(1, overtaken))
              .isInstanceOf(ConcurrencyFailureException.class);
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void aTransactionOfAnotherDataSourceIsRolledBackRatherThanCommittedWithoutAComparison() {
    HikariDataSource other = new HikariDataSource();
    plain.copyStateTo(other);
    try (other) {
      DataSourceTransactionManager others = new DataSourceTransactionManager(other);
      with(
          application(plain).withBean("others", PlatformTransactionManager.class, () -> others),
          application -> {
            Shop shop = application.getBean(Shop.class);
            Runnable elsewhere =
                () -> within(others, TransactionDefinition.PROPAGATION_REQUIRED, 2);
            assertThatThrownBy(() -> shop.withTransactionsOfItsOwn(elsewhere))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another DataSource");
            assertThat(shipped()).isEmpty();
            assertThatThrownBy(() -> shop.ship(1, elsewhere))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("another DataSource");
            assertThat(shipped()).isEmpty();
          });
    }
  }

  @Test
  void transactionsOfADataSourceThatKnowsThemAreFenced() {
    with(
        application(new TransactionAwareDataSourceProxy(plain)),
        application -> {
          application.getBean(Shop.class).ship(1, () -> {});
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void anEarlierTransactionThatDoesNotEndKeepsALaterHolderForItsPatienceOnly() {
    with(
        application(plain).withPropertyValues("pawl.patience=1s"),
        application -> {
          Shop shop = application.getBean(Shop.class);
          shop.ship(1, () -> {});
          new TransactionTemplate(new DataSourceTransactionManager(plain))
              .executeWithoutResult(
                  status -> {
                    table.update("UPDATE pawl_fence SET token = token WHERE name = 'orders'");
                    CompletableFuture<Void> later =
                        CompletableFuture.runAsync(() -> shop.ship(2, () -> {}), OWN_THREAD);
                    assertThatThrownBy(() -> later.get(1, TimeUnit.MINUTES))
                        .hasCauseInstanceOf(DataAccessException.class)
                        .rootCause()
                        .hasMessageContaining("user request"); // and not: lock timeout
                  });
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aTokenThatRisesMeanwhileDoesNotRefuseALaterHolderWhoseSnapshotIsOlder() {
    HikariDataSource snapshots = new HikariDataSource();
    plain.copyStateTo(snapshots);
    snapshots.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
    try (snapshots) {
      with(
          application(snapshots),
          application -> {
            Shop shop = application.getBean(Shop.class);
            shop.ship(1, () -> {});
            List<CompletableFuture<Void>> later = new ArrayList<>();
            new TransactionTemplate(new DataSourceTransactionManager(plain))
                .executeWithoutResult(
                    status -> {
                      table.update("UPDATE pawl_fence SET token = token WHERE name = 'orders'");
                      later.add(
                          CompletableFuture.runAsync(() -> shop.ship(2, () -> {}), OWN_THREAD));
                      await()
                          .until(
                              () ->
                                  table.queryForObject(
                                          "SELECT COUNT(*) FROM pg_stat_activity WHERE"
                                              + " wait_event_type = 'Lock' AND query LIKE"
                                              + " '%pawl_fence%'",
                                          Integer.class)
                                      == 1);
                    });
            later.get(0).orTimeout(1, TimeUnit.MINUTES).join();
            assertThat(shipped()).containsExactly(1L, 2L);
          });
    }
  }

  @Test
  void anApplicationOfSeveralDataSourcesMaySayWhichHasTheFence() {
    HikariDataSource other = new HikariDataSource();
    plain.copyStateTo(other);
    try (other) {
      with(
          application(plain)
              .withPropertyValues("pawl.url=memory:")
              .withBean("first", DataSource.class, () -> other)
              .withBean(Fencing.class, () -> new Fencing(plain, true)),
          application -> {
            application.getBean(Shop.class).ship(1, () -> {});
            assertThat(shipped()).containsExactly(1L);
          });
    }
  }
}
