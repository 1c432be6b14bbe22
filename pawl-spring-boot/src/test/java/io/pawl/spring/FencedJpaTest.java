package io.pawl.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.error.StaleTokenException;
import io.pawl.servers.PostgresServer;
import io.pawl.spring.boot.LockedAutoConfiguration;
import io.pawl.spring.boot.PawlAutoConfiguration;
import io.pawl.sql.SqlStore;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.annotation.Transactional;

/** Fenced methods whose entities are written as their transaction commits. */
class FencedJpaTest {

  @Entity(name = "Shipped")
  static class Shipped {
    @Id long id;
  }

  static class Shop {

    @PersistenceContext EntityManager entities;

    @Locked(name = "orders", fenced = true)
    @Transactional
    public void ship(long id, Runnable andThen) {
      Shipped shipped = new Shipped();
      shipped.id = id;
      entities.persist(shipped);
      andThen.run();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Persistence {

    @Bean
    LocalContainerEntityManagerFactoryBean entityManagerFactory(DataSource dataSource) {
      LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
      HibernateJpaVendorAdapter hibernate = new HibernateJpaVendorAdapter();
      hibernate.setGenerateDdl(true);
      factory.setJpaVendorAdapter(hibernate);
      factory.setDataSource(dataSource);
      factory.setManagedTypes(PersistenceManagedTypes.of(Shipped.class.getName()));
      return factory;
    }

    @Bean
    JpaTransactionManager transactions(EntityManagerFactory entities) {
      return new JpaTransactionManager(entities);
    }
  }

  @Test
  void entitiesOfAnOvertakenHolderAreNotWritten() {
    try (PostgresServer server = PostgresServer.start("lock_timeout=20s");
        HikariDataSource dataSource = new HikariDataSource()) {
      dataSource.setJdbcUrl(server.jdbcUrl());
      dataSource.setUsername(PostgresServer.USER);
      dataSource.setPassword(PostgresServer.PASSWORD);
      dataSource.setMaximumPoolSize(4);
      JdbcTemplate table = new JdbcTemplate(dataSource);
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  AopAutoConfiguration.class,
                  TransactionAutoConfiguration.class,
                  PawlAutoConfiguration.class,
                  LockedAutoConfiguration.class))
          .withBean(
              "dataSource",
              DataSource.class,
              () -> dataSource,
              bean -> bean.setDestroyMethodName(""))
          .withUserConfiguration(Persistence.class)
          .withBean(Shop.class)
          .run(
              context -> {
                Shop shop = context.getBean(Shop.class);
                shop.ship(1, () -> {});
                Runnable overtaken =
                    () -> overtake(dataSource, context.getBean(Pawl.class), Leases.current());
                assertThatThrownBy(() -> shop.ship(2, overtaken))
                    .isInstanceOf(StaleTokenException.class);
                shop.ship(3, () -> {});
                assertThat(table.queryForList("SELECT id FROM Shipped ORDER BY id", Long.class))
                    .containsExactly(1L, 3L);
              });
    }
  }

  private static void overtake(DataSource dataSource, Pawl pawl, Lease holder) {
    pawl.evict("orders", holder.token());
    try (SqlStore store = SqlStore.over(dataSource);
        Pawl other = Pawl.over(store);
        Lease later = other.lock("orders").tryAcquire().orElseThrow()) {
      new Fencing(dataSource, false).enter(new Taken.One(later).tokens());
    }
  }
}
