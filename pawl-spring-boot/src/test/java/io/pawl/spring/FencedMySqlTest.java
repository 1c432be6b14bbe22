package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.error.StaleTokenException;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.MySqlServer.Flavour;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import javax.sql.DataSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Fenced methods on MySQL and MariaDB, whose transactions have snapshots unless told otherwise. */
class FencedMySqlTest {

  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  static class Shop {

    private final JdbcTemplate jdbc;
    private final PlatformTransactionManager transactions;

    Shop(DataSource dataSource, PlatformTransactionManager transactions) {
      this.jdbc = new JdbcTemplate(dataSource);
      this.transactions = transactions;
    }

    @Locked(name = "orders", fenced = true)
    @Transactional
    public void ship(long id, Runnable andThen) {
      insert(id);
      andThen.run();
    }

    void insert(long id) {
      jdbc.update("INSERT INTO shipped VALUES (?)", id);
    }

    void insertWithin(int way, long id) {
      TransactionTemplate template = new TransactionTemplate(transactions);
      template.setPropagationBehavior(way);
      template.executeWithoutResult(status -> insert(id));
    }
  }

  private static void with(Flavour flavour, BiConsumer<Shop, JdbcTemplate> use) {
    try (MySqlServer server = MySqlServer.start(flavour, "--innodb-lock-wait-timeout=20");
        HikariDataSource plain = new HikariDataSource()) {
      plain.setJdbcUrl(server.jdbcUrl());
      plain.setUsername(MySqlServer.USER);
      plain.setPassword(MySqlServer.PASSWORD);
      JdbcTemplate table = new JdbcTemplate(plain);
      table.execute("CREATE TABLE shipped (id BIGINT PRIMARY KEY)");
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  AopAutoConfiguration.class,
                  DataSourceAutoConfiguration.class,
                  DataSourceTransactionManagerAutoConfiguration.class,
                  TransactionAutoConfiguration.class,
                  PawlAutoConfiguration.class,
                  LockedAutoConfiguration.class))
          .withPropertyValues(
              "spring.datasource.url=" + server.jdbcUrl(),
              "spring.datasource.username=" + MySqlServer.USER,
              "spring.datasource.password=" + MySqlServer.PASSWORD)
          .withBean(Shop.class)
          .run(context -> use.accept(context.getBean(Shop.class), table));
    }
  }

  @ParameterizedTest
  @EnumSource
  void onlyWhatNobodyHasOvertakenIsCommitted(Flavour flavour) {
    with(
        flavour,
        (shop, table) -> {
          shop.ship(
              1,
              () -> {
                shop.insertWithin(TransactionDefinition.PROPAGATION_NESTED, 2);
                shop.insertWithin(TransactionDefinition.PROPAGATION_REQUIRES_NEW, 3);
              });
          Runnable overtaken =
              () ->
                  CompletableFuture.runAsync(
                          () -> table.update("UPDATE pawl_fence SET token = token + 1"), OWN_THREAD)
                      .join();
          assertThatThrownBy(() -> shop.ship(4, overtaken)).isInstanceOf(StaleTokenException.class);
          assertThat(table.queryForList("SELECT id FROM shipped ORDER BY id", Long.class))
              .containsExactly(1L, 2L, 3L);
        });
  }
}
