package io.pawl.bench.start;

import com.sun.management.OperatingSystemMXBean;
import com.zaxxer.hikari.HikariDataSource;
import io.pawl.spring.Locked;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

/** A fresh JVM of {@link SpringStartSuite}: an application with Pawl, with ShedLock, or without. */
final class SpringStartFork {

  static final String WITHOUT = "without";
  static final String ON_DATABASE = "on its database";
  static final String ON_FILE = "on SQLite";
  static final String SHEDLOCK = "ShedLock on its database";

  static final String SHEDLOCK_TABLE =
      "create table shedlock (name varchar(64) primary key, lock_until timestamp not null,"
          + " locked_at timestamp not null, locked_by varchar(255) not null)";

  private static final String OURS =
      Stream.of("Pawl", "Locked", "PawlActuator", "PawlMetrics", "PawlTracing")
          .map(name -> "io.pawl.spring.boot." + name + "AutoConfiguration")
          .collect(Collectors.joining(","));

  private SpringStartFork() {}

  /** A bean as an application has many; whose support is not there, its annotation says nothing. */
  public static class Orders {

    private final JdbcTemplate database;

    Orders(DataSource database) {
      this.database = new JdbcTemplate(database);
      count();
    }

    @Locked("orders:#{#id}")
    @SchedulerLock(name = "orders:#{#id}")
    @Transactional
    public Long ship(long id) {
      return id + count();
    }

    private long count() {
      Long count = database.queryForObject("select count(*) from pg_tables", Long.class);
      return count == null ? 0 : count;
    }
  }

  /** It has auto-configuration, a pool, and transactions by annotation. */
  @Configuration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  @EnableTransactionManagement(proxyTargetClass = true)
  public static class Application {

    @Bean
    DataSource dataSource(@Value("${bench.database}") String url) {
      HikariDataSource pool = new HikariDataSource();
      pool.setJdbcUrl(url);
      return pool;
    }

    @Bean
    PlatformTransactionManager transactions(DataSource database) {
      return new JdbcTransactionManager(database);
    }

    @Bean
    Orders orders(DataSource database) {
      return new Orders(database);
    }
  }

  /** As its README has it. */
  @Configuration(proxyBeanMethods = false)
  @EnableSchedulerLock(defaultLockAtMostFor = "PT30S")
  public static class WithShedLock {

    @Bean
    LockProvider locks(DataSource database) {
      return new JdbcTemplateLockProvider(
          JdbcTemplateLockProvider.Configuration.builder()
              .withJdbcTemplate(new JdbcTemplate(database))
              .usingDbTime()
              .build());
    }
  }

  /**
   * @param arguments side, URL of the application's database, file of locks
   */
  public static void main(String[] arguments) {
    String side = arguments[0];
    SpringApplication application = new SpringApplication(Application.class);
    if (side.equals(SHEDLOCK)) {
      application.addPrimarySources(List.of(WithShedLock.class));
    }
    application.setBannerMode(Banner.Mode.OFF);
    application.setLogStartupInfo(false);
    application.setWebApplicationType(WebApplicationType.NONE);
    Map<String, Object> properties = new HashMap<>();
    properties.put("bench.database", arguments[1]);
    if (side.equals(ON_FILE)) {
      properties.put("pawl.url", "sqlite:" + arguments[2]);
    }
    if (side.equals(WITHOUT) || side.equals(SHEDLOCK)) {
      properties.put("spring.autoconfigure.exclude", OURS);
    }
    application.setDefaultProperties(properties);
    long from = System.nanoTime();
    try (ConfigurableApplicationContext context = application.run()) {
      double millis = (System.nanoTime() - from) / 1e6;
      double cpuSeconds = cpuNanos() / 1e9;
      long shipping = System.nanoTime();
      context.getBean(Orders.class).ship(42);
      double firstMillis = (System.nanoTime() - shipping) / 1e6;
      System.out.println("started " + millis + " " + cpuSeconds + " " + firstMillis);
    }
    System.exit(0);
  }

  /** Of this process since its start, with what compiles and collects. */
  private static long cpuNanos() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }
}
