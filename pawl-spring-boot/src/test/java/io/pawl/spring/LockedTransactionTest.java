package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.LeaseLostException;
import io.pawl.error.StaleTokenException;
import io.pawl.servers.PostgresServer;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import io.pawl.sql.SqlStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Locks and transactions of an application on PostgreSQL, which has its locks as well. */
class LockedTransactionTest {

  private static PostgresServer server;
  private static HikariDataSource plain;
  private static JdbcTemplate table;

  @BeforeAll
  static void startServer() {
    server = PostgresServer.start();
    plain = new HikariDataSource();
    plain.setJdbcUrl(server.jdbcUrl());
    plain.setUsername(PostgresServer.USER);
    plain.setPassword(PostgresServer.PASSWORD);
    plain.setMaximumPoolSize(2);
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
  }

  private static List<Long> shipped() {
    return table.queryForList("SELECT id FROM shipped ORDER BY id", Long.class);
  }

  static class Shop {

    private final JdbcTemplate jdbc;

    Shop(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Locked("orders")
    @Transactional
    public void ship(long id, Runnable andThen) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
      andThen.run();
    }

    @Locked(name = "orders", openTransaction = OpenTransaction.HOLD)
    public void shipWithinTheCallersTransaction(long id) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
    }

    @Locked(name = "bills", openTransaction = OpenTransaction.HOLD)
    public String billWithinTheCallersTransaction() {
      return Leases.current().lock();
    }

    @Locked(name = "orders", openTransaction = OpenTransaction.REFUSE)
    public void shipAlone(long id) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
    }

    @Locked(name = "orders", fenced = true)
    @Transactional
    public void shipFenced(long id, Runnable andThen) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
      andThen.run();
    }

    @Locked(name = "orders", fenced = true)
    @Transactional(readOnly = true)
    public int count() {
      return jdbc.queryForObject("SELECT COUNT(*) FROM shipped", Integer.class);
    }

    @Locked(name = "orders", fenced = true)
    public void shipWithoutTransaction(long id) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
    }
  }

  /** An application that has its transactions' beans from itself rather than from Boot. */
  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class OwnTransactions {
    @Bean
    PlatformTransactionManager transactions(DataSource dataSource) {
      return new DataSourceTransactionManager(dataSource);
    }
  }

  @FunctionalInterface
  interface Use {
    void of(Shop shop, ApplicationContext application);
  }

  private static ApplicationContextRunner application() {
    return new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                AopAutoConfiguration.class,
                DataSourceAutoConfiguration.class,
                DataSourceTransactionManagerAutoConfiguration.class,
                JdbcTemplateAutoConfiguration.class,
                TransactionAutoConfiguration.class,
                PawlAutoConfiguration.class,
                LockedAutoConfiguration.class))
        .withPropertyValues(
            "spring.datasource.url=" + server.jdbcUrl(),
            "spring.datasource.username=" + PostgresServer.USER,
            "spring.datasource.password=" + PostgresServer.PASSWORD,
            "spring.datasource.hikari.maximum-pool-size=3")
        .withBean(Shop.class);
  }

  private static void with(ApplicationContextRunner application, Use use) {
    application.run(context -> use.of(context.getBean(Shop.class), context));
  }

  private static boolean isFree(ApplicationContext application) {
    return !application.getBean(Pawl.class).inspect("orders").isHeld();
  }

  private static <T> T inTransaction(ApplicationContext application, Supplier<T> body) {
    return new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
        .execute(status -> body.get());
  }

  /** Takes the lock away from its holder, and lets another one have it. */
  private static Lease overtake(ApplicationContext application) {
    Pawl pawl = application.getBean(Pawl.class);
    pawl.evict("orders", Leases.current().token());
    try (SqlStore store = SqlStore.over(plain);
        Pawl other = Pawl.over(store);
        Lease lease = other.lock("orders").tryAcquire().orElseThrow()) {
      assertThat(lease.token()).isGreaterThan(Leases.current().token());
      return lease;
    }
  }

  @Test
  void theLockIsHeldUntilTheCommitIsOver() {
    with(
        application(),
        (shop, application) -> {
          boolean[] heldAfterCommit = {false};
          shop.ship(
              1,
              () ->
                  TransactionSynchronizationManager.registerSynchronization(
                      new TransactionSynchronization() {
                        @Override
                        public void afterCompletion(int status) {
                          heldAfterCommit[0] = !isFree(application) && shipped().contains(1L);
                        }
                      }));
          assertThat(heldAfterCommit[0]).isTrue();
          assertThat(isFree(application)).isTrue();
        });
  }

  @Test
  void aCallInAnOpenTransactionIsRefused() {
    with(
        application(),
        (shop, application) -> {
          assertThatThrownBy(
                  () ->
                      inTransaction(
                          application,
                          () -> {
                            shop.ship(1, () -> {});
                            return null;
                          }))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("pawl.locked.open-transaction=hold");
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void aCallInAnOpenTransactionHoldsTheLockUntilItsEndWhereItMay() {
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) -> {
          inTransaction(
              application,
              () -> {
                shop.ship(1, () -> {});
                assertThat(isFree(application)).isFalse();
                shop.ship(2, () -> {}); // which joins
                return null;
              });
          assertThat(isFree(application)).isTrue();
          assertThat(Leases.find()).isEmpty();
          assertThat(shipped()).containsExactly(1L, 2L);
        });
  }

  @Test
  void aLockThatIsHeldUntilTheEndIsNotThatOfTheCallThatGoesOn() {
    with(
        application(),
        (shop, application) -> {
          List<String> locks = new ArrayList<>();
          shop.ship(
              1,
              () -> {
                locks.add(shop.billWithinTheCallersTransaction());
                locks.add(Leases.current().lock());
                assertThat(Leases.of("bills")).isPresent();
              });
          assertThat(locks).containsExactly("bills", "orders");
          assertThat(Leases.of("bills")).isEmpty();
        });
  }

  @Test
  void anAnnotationSaysForItselfWhatBecomesOfACallInAnOpenTransaction() {
    with(
        application(),
        (shop, application) -> {
          inTransaction(
              application,
              () -> {
                shop.shipWithinTheCallersTransaction(1);
                assertThat(isFree(application)).isFalse();
                return null;
              });
          assertThat(isFree(application)).isTrue();
        });
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) ->
            assertThatThrownBy(
                    () ->
                        inTransaction(
                            application,
                            () -> {
                              shop.shipAlone(2);
                              return null;
                            }))
                .isInstanceOf(IllegalStateException.class));
    assertThat(shipped()).containsExactly(1L);
    application()
        .withPropertyValues("pawl.locked.open-transaction=as-configured")
        .run(context -> assertThat(context).hasFailed());
  }

  @Test
  void aCallInAListenerAfterTheCommitIsToldToComeOnAnotherThread() {
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) -> {
          Throwable[] refusal = new Throwable[1];
          inTransaction(
              application,
              () -> {
                TransactionSynchronizationManager.registerSynchronization(
                    new TransactionSynchronization() {
                      @Override
                      public void afterCompletion(int status) {
                        refusal[0] = catchThrowable(() -> shop.ship(1, () -> {}));
                      }
                    });
                return null;
              });
          assertThat(refusal[0])
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("has just ended");
          assertThat(shipped()).isEmpty();
        });
  }

  /** What it writes is committed when all listeners have been told. */
  @Test
  void aCallAfterTheCommitIsRefusedWhileListenersAreToldOfThatToo() {
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) -> {
          Throwable[] refusal = new Throwable[1];
          inTransaction(
              application,
              () -> {
                afterCommit(() -> refusal[0] = catchThrowable(() -> shop.ship(1, () -> {})));
                return null;
              });
          assertThat(refusal[0]).hasMessageContaining("has just ended");
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void aCallAfterTheCommitDoesNotJoinALockThatIsReleasedBeforeItsOwnWritesAreCommitted() {
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) -> {
          Throwable[] refusal = new Throwable[1];
          inTransaction(
              application,
              () -> {
                afterCommit(() -> refusal[0] = catchThrowable(() -> shop.ship(2, () -> {})));
                shop.ship(1, () -> {});
                return null;
              });
          assertThat(refusal[0]).hasMessageContaining("has just ended");
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aFencedCallAfterTheCommitIsRefusedSinceItsWritesWouldBeCommittedWithoutAComparison() {
    with(
        application(),
        (shop, application) -> {
          Throwable[] refusal = new Throwable[1];
          shop.shipFenced(
              1,
              () ->
                  afterCommit(
                      () -> refusal[0] = catchThrowable(() -> shop.shipFenced(2, () -> {}))));
          assertThat(refusal[0]).hasMessageContaining("has just ended");
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aCallAfterTheCommitMayHaveATransactionOfItsOwn() {
    with(
        application(),
        (shop, application) -> {
          inTransaction(
              application,
              () -> {
                afterCommit(
                    () -> {
                      TransactionTemplate another =
                          new TransactionTemplate(
                              application.getBean(PlatformTransactionManager.class));
                      another.setPropagationBehavior(
                          TransactionDefinition.PROPAGATION_REQUIRES_NEW);
                      another.executeWithoutResult(
                          status -> shop.shipWithinTheCallersTransaction(1));
                    });
                return null;
              });
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aTransactionThatTakesItsLockOnTheWayToItsCommitIsRolledBackIfTheLeaseIsLost() {
    with(
        application()
            .withPropertyValues("pawl.locked.open-transaction=hold", "pawl.locked.lease=500ms"),
        (shop, application) -> {
          assertThatThrownBy(
                  () ->
                      inTransaction(
                          application,
                          () -> {
                            beforeCommit(
                                () -> {
                                  shop.ship(1, () -> {});
                                  Lease lease = Leases.current();
                                  application.getBean(Pawl.class).evict("orders", lease.token());
                                  await().until(() -> !lease.isValid());
                                });
                            return null;
                          }))
              .isInstanceOf(LeaseLostException.class);
          assertThat(shipped()).isEmpty();
        });
  }

  private static void afterCommit(Runnable task) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void afterCommit() {
            task.run();
          }
        });
  }

  private static void beforeCommit(Runnable task) {
    TransactionSynchronizationManager.registerSynchronization(
        new TransactionSynchronization() {
          @Override
          public void beforeCommit(boolean readOnly) {
            task.run();
          }
        });
  }

  @Test
  void aTransactionWhoseLeaseWasLostBeforeItsEndIsRolledBack() {
    with(
        application()
            .withPropertyValues("pawl.locked.open-transaction=hold", "pawl.locked.lease=500ms"),
        (shop, application) -> {
          assertThatThrownBy(
                  () ->
                      inTransaction(
                          application,
                          () -> {
                            shop.ship(1, () -> {});
                            Lease lease = Leases.current();
                            application.getBean(Pawl.class).evict("orders", lease.token());
                            await().until(() -> !lease.isValid());
                            return null;
                          }))
              .isInstanceOf(LeaseLostException.class);
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void aFencedMethodCommitsWhileNobodyHasOvertakenIt() {
    with(
        application(),
        (shop, application) -> {
          shop.shipFenced(1, () -> {});
          shop.shipFenced(2, () -> shop.ship(3, () -> {}));
          assertThat(shop.count()).isEqualTo(3);
          assertThat(isFree(application)).isTrue();
        });
  }

  @Test
  void anEarlierHoldersTransactionIsRolledBackOnceALaterHolderHasEntered() {
    with(
        application(),
        (shop, application) -> {
          assertThatThrownBy(
                  () ->
                      shop.shipFenced(
                          1,
                          () -> {
                            Lease later = overtake(application);
                            new Fencing(plain, false)
                                .enter(new Taken.One(later).tokens()); // and has yet to commit
                          }))
              .isInstanceOf(StaleTokenException.class);
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void aHolderThatWasOvertakenBeforeItsMethodBeginsRunsNothing() {
    with(
        application(),
        (shop, application) -> {
          shop.shipFenced(1, () -> {});
          table.update("UPDATE pawl_fence SET token = token + 1000000 WHERE name = 'orders'");
          assertThatThrownBy(
                  () ->
                      shop.shipFenced(
                          2,
                          () -> {
                            throw new AssertionError("ran");
                          }))
              .isInstanceOf(StaleTokenException.class);
          table.update("DELETE FROM pawl_fence");
          assertThat(shipped()).containsExactly(1L);
        });
  }

  @Test
  void aFencedMethodWithoutATransactionSaysSo() {
    with(
        application(),
        (shop, application) ->
            assertThatThrownBy(() -> shop.shipWithoutTransaction(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("add @Transactional"));
  }

  @Test
  void aFencedMethodIsRefusedInAnOpenTransactionWhateverIsConfigured() {
    with(
        application().withPropertyValues("pawl.locked.open-transaction=hold"),
        (shop, application) -> {
          assertThatThrownBy(
                  () ->
                      inTransaction(
                          application,
                          () -> {
                            shop.shipFenced(1, () -> {});
                            return null;
                          }))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> shop.ship(1, () -> shop.shipFenced(2, () -> {})))
              .isInstanceOf(IllegalStateException.class);
          assertThat(shipped()).isEmpty();
        });
  }

  @Test
  void transactionManagersOfTheApplicationsOwnAreFencedToo() {
    with(
        application().withUserConfiguration(OwnTransactions.class),
        (shop, application) -> {
          shop.shipFenced(1, () -> {});
          assertThatThrownBy(
                  () ->
                      shop.shipFenced(
                          2,
                          () ->
                              new Fencing(plain, false)
                                  .enter(new Taken.One(overtake(application)).tokens())))
              .isInstanceOf(StaleTokenException.class);
          assertThat(shipped()).containsExactly(1L);
        });
  }
}
