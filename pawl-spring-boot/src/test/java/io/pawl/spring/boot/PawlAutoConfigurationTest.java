package io.pawl.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.memory.MemoryStore;
import io.pawl.micrometer.LockMeters;
import io.pawl.options.LockObserver;
import io.pawl.redis.RedisStore;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.spring.LockAdvisor;
import io.pawl.sql.SqlStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.SimpleAsyncTaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

class PawlAutoConfigurationTest {

  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  PawlAutoConfiguration.class,
                  LockedAutoConfiguration.class,
                  PawlActuatorAutoConfiguration.class,
                  PawlMetricsAutoConfiguration.class));

  private final ApplicationContextRunner withRedis =
      bare.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class));

  private final ApplicationContextRunner inMemory = bare.withPropertyValues("pawl.url=memory:");

  private static String nameOf(Pawl pawl) {
    return pawl.toString();
  }

  private static void locks(Pawl pawl) throws Exception {
    try (Lease lease = pawl.lock("orders:42").acquire()) {
      lease.ensureValid();
    }
  }

  @Test
  void theUrlNamesTheStore() {
    withRedis
        .withPropertyValues("pawl.url=memory:here")
        .run(
            context -> {
              assertThat(nameOf(context.getBean(Pawl.class))).contains("memory:here");
              locks(context.getBean(Pawl.class));
            });
  }

  @Test
  void theDatabaseOfTheApplicationHasTheLocksThoughItHasARedisToo() {
    try (PostgresServer server = PostgresServer.start()) {
      withRedis
          .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
          .withPropertyValues(
              "spring.datasource.url=" + server.jdbcUrl(),
              "spring.datasource.username=" + PostgresServer.USER,
              "spring.datasource.password=" + PostgresServer.PASSWORD,
              "spring.datasource.hikari.maximum-pool-size=1")
          .run(
              context -> {
                assertThat(context).getBean(LockStore.class).isInstanceOf(SqlStore.class);
                locks(context.getBean(Pawl.class));
              });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"auto", "redis"})
  void theRedisOfTheApplicationHasTheLocksWhereThereIsNoDatabase(String choice) {
    try (RedisServer server = RedisServer.setup().password("s3cret@:/").start()) {
      withRedis
          .withPropertyValues(
              "pawl.store=" + choice,
              "spring.data.redis.host=" + server.host(),
              "spring.data.redis.port=" + server.port(),
              "spring.data.redis.password=s3cret@:/")
          .run(
              context -> {
                assertThat(context).getBean(LockStore.class).isInstanceOf(RedisStore.class);
                locks(context.getBean(Pawl.class));
              });
    }
  }

  @Test
  void theRedisThatIsChosenHasTheLocksThoughThereIsADatabaseToo() {
    try (RedisServer server = RedisServer.start()) {
      withRedis
          .withBean(DataSource.class, HikariDataSource::new)
          .withPropertyValues(
              "pawl.store=redis",
              "spring.data.redis.host=" + server.host(),
              "spring.data.redis.port=" + server.port())
          .run(
              context -> {
                assertThat(context).getBean(LockStore.class).isInstanceOf(RedisStore.class);
                locks(context.getBean(Pawl.class));
              });
    }
  }

  /** Such as those of Docker Compose and of {@code @ServiceConnection}. */
  @Test
  void connectionDetailsNameTheRedisWhateverThePropertiesSay() {
    try (RedisServer server = RedisServer.start()) {
      DataRedisConnectionDetails details =
          new DataRedisConnectionDetails() {
            @Override
            public Standalone getStandalone() {
              return Standalone.of(server.host(), server.port());
            }
          };
      withRedis
          .withBean(DataRedisConnectionDetails.class, () -> details)
          .withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=1")
          .run(context -> locks(context.getBean(Pawl.class)));
    }
  }

  @Test
  void theDataSourceOfASqliteFileIsRefusedAndTheUrlToWriteIsSaid() {
    bare.withBean(
            DataSource.class,
            () -> {
              HikariDataSource pool = new HikariDataSource();
              pool.setJdbcUrl("jdbc:sqlite::memory:");
              return pool;
            })
        .run(
            context ->
                assertThat(analysisOf(context.getStartupFailure()).getDescription())
                    .contains("sqlite:/path"));
  }

  @Test
  void tablesThatTheApplicationMakesAreNotMadeByPawl() {
    try (PostgresServer server = PostgresServer.start()) {
      bare.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
          .withPropertyValues(
              "pawl.create-tables=false",
              "spring.datasource.url=" + server.jdbcUrl(),
              "spring.datasource.username=" + PostgresServer.USER,
              "spring.datasource.password=" + PostgresServer.PASSWORD)
          .run(
              context ->
                  assertThat(analysisOf(context.getStartupFailure()).getDescription())
                      .contains("pawl_"));
    }
  }

  private static FailureAnalysis analysisOf(Throwable failure) {
    FailureAnalysis none = new NoStoreFailureAnalyzer().analyze(failure);
    return none != null ? none : new StoreFailureAnalyzer().analyze(failure);
  }

  @Test
  void anApplicationWithNothingToKeepLocksInIsToldWhatToDo() {
    bare.run(
        context -> {
          FailureAnalysis analysis = analysisOf(context.getStartupFailure());
          assertThat(analysis.getDescription()).contains("pawl.url is not set");
          assertThat(analysis.getAction()).contains("pawl.url=redis://", "pawl.enabled=false");
        });
  }

  @Test
  void severalDatabasesAreNotChosenFrom() {
    withRedis
        .withBean("one", DataSource.class, HikariDataSource::new)
        .withBean("two", DataSource.class, HikariDataSource::new)
        .run(
            context ->
                assertThat(analysisOf(context.getStartupFailure()).getAction())
                    .contains("@Primary"));
  }

  @Test
  void aStoreThatDoesNotAnswerIsNamedAndItsPasswordIsNot() {
    bare.withPropertyValues("pawl.url=redis://:s3cret@127.0.0.1:1")
        .run(
            context -> {
              FailureAnalysis analysis = analysisOf(context.getStartupFailure());
              assertThat(analysis.getDescription()).contains("127.0.0.1").doesNotContain("s3cret");
              assertThat(analysis.getAction()).contains("pawl.url");
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"nosuch://pawl:s3cret@127.0.0.1:1", "redis://:s3cret@127.0.0.1:port"})
  void aUrlThatCannotBeReadIsExplainedAndItsPasswordIsNot(String url) {
    bare.withPropertyValues("pawl.url=" + url)
        .run(
            context -> {
              FailureAnalysis analysis = analysisOf(context.getStartupFailure());
              assertThat(analysis.getDescription())
                  .contains("pawl.url", "127.0.0.1")
                  .doesNotContain("s3cret");
              assertThat(analysis.getAction()).contains("pawl.url");
            });
  }

  @Test
  void theAnalyzersAreFound() throws Exception {
    assertThat(Files.readString(Path.of("src/main/resources/META-INF/spring.factories")))
        .contains(NoStoreFailureAnalyzer.class.getName(), StoreFailureAnalyzer.class.getName());
  }

  @Test
  void aClientOrAStoreOfTheApplicationsOwnTakesThePlaceOfOurs() {
    Pawl own = Pawl.connect("memory:own");
    bare.withBean(Pawl.class, () -> own)
        .run(
            context -> {
              assertThat(context).getBean(Pawl.class).isSameAs(own);
              assertThat(context).doesNotHaveBean(LockStore.class);
            });
    bare.withBean(MemoryStore.class)
        .run(context -> assertThat(context).hasSingleBean(LockStore.class).hasNotFailed());
  }

  @Test
  void nothingIsMadeWhereItIsSwitchedOff() {
    bare.withPropertyValues("pawl.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Pawl.class));
    bare.withBean(MemoryStore.class)
        .withBean(Pawl.class, () -> Pawl.connect("memory:"))
        .withPropertyValues("pawl.enabled=false")
        .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockAdvisor.class));
  }

  @Test
  void anApplicationNeedsNoneOfWhatIsOptional() {
    inMemory
        .withClassLoader(
            new FilteredClassLoader(
                "io.pawl.sql",
                "io.pawl.redis",
                "io.pawl.micrometer",
                "io.micrometer",
                "reactor",
                "org.springframework.jdbc",
                "org.springframework.transaction",
                "org.springframework.dao",
                "org.springframework.boot.data",
                "org.springframework.boot.jdbc",
                "org.springframework.boot.sql"))
        .run(
            context -> {
              assertThat(context).hasNotFailed().doesNotHaveBean(LockMeters.class);
              locks(context.getBean(Pawl.class));
            });
  }

  @Test
  void theProgramHasTheNameOfTheApplicationUnlessItHasOneOfItsOwn() {
    inMemory
        .withPropertyValues("spring.application.name=shop")
        .run(context -> assertThat(applicationOf(context.getBean(Pawl.class))).isEqualTo("shop"));
    inMemory
        .withPropertyValues("spring.application.name=shop", "pawl.application=stock")
        .run(context -> assertThat(applicationOf(context.getBean(Pawl.class))).isEqualTo("stock"));
  }

  private static String applicationOf(Pawl pawl) {
    try (Lease lease = pawl.lock("orders").tryAcquire().orElseThrow()) {
      return pawl.inspect("orders").holders().get(0).application();
    }
  }

  @Test
  void everyObserverOfTheApplicationIsTold() {
    AtomicInteger told = new AtomicInteger();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            told.incrementAndGet();
          }
        };
    inMemory
        .withBean("one", LockObserver.class, () -> observer)
        .withBean("two", LockObserver.class, () -> observer)
        .run(
            context -> {
              locks(context.getBean(Pawl.class));
              assertThat(told).hasValue(2);
            });
  }

  /** Nor does a logger that asks it for its message write it down. */
  private static final class Unspeakable extends RuntimeException {
    @Override
    public String getMessage() {
      throw new IllegalStateException("has no message");
    }
  }

  @Test
  void anObserverThatThrowsWhatCannotBeLoggedKeepsNothingFromTheNext() {
    AtomicInteger told = new AtomicInteger();
    LockObserver observer =
        new LockObserver() {
          @Override
          public void acquired(String lock, long token, Duration waited, boolean passed) {
            told.incrementAndGet();
            throw new Unspeakable();
          }
        };
    inMemory
        .withBean("one", LockObserver.class, () -> observer)
        .withBean("two", LockObserver.class, () -> observer)
        .run(
            context -> {
              locks(context.getBean(Pawl.class));
              assertThat(told).hasValue(2);
            });
  }

  @Test
  void aCustomizerHasTheLastWordOnOptions() {
    AtomicInteger tasks = new AtomicInteger();
    Executor executor =
        task -> {
          tasks.incrementAndGet();
          new Thread(task).start();
        };
    inMemory
        .withBean(PawlOptionsCustomizer.class, () -> options -> options.executor(executor))
        .run(
            context -> {
              context
                  .getBean(Pawl.class)
                  .lock("orders")
                  .acquireAsync()
                  .thenAccept(Lease::close)
                  .get();
              assertThat(tasks).hasPositiveValue();
            });
  }

  static final class Seen extends ArrayList<String> {
    private static final long serialVersionUID = 1;
  }

  /** Holds a lock as the application ends, and stops as web servers do. */
  static final class Ends implements SmartLifecycle {

    private final Pawl pawl;
    private final Seen seen;
    private boolean running;

    Ends(Pawl pawl, Seen seen) {
      this.pawl = pawl;
      this.seen = seen;
    }

    @Override
    public void start() {
      running = true;
      try {
        Lease lease = pawl.lock("orders").acquire();
        lease.onClosing(
            () -> {
              seen.add("client");
              lease.close();
            });
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void stop() {
      running = false;
      seen.add("server");
    }

    @Override
    public boolean isRunning() {
      return running;
    }

    @Override
    public int getPhase() {
      return SmartLifecycle.DEFAULT_PHASE - 2048;
    }
  }

  @Test
  void aLazyApplicationOpensItsStoreAtTheFirstLockAndClosesItAtItsEnd() {
    inMemory
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .run(
            context -> {
              ConfigurableApplicationContext application =
                  (ConfigurableApplicationContext) context.getSourceApplicationContext();
              assertThat(application.getBeanFactory().containsSingleton("pawlStore")).isFalse();

              Pawl pawl = context.getBean(Pawl.class);
              locks(pawl);
              application.stop();

              assertThat(pawl.isClosed()).isTrue();
            });
  }

  @Test
  void aLazyApplicationThatNeverLocksEndsWithoutAStore() {
    bare.withPropertyValues("pawl.url=redis://127.0.0.1:1")
        .withInitializer(
            context ->
                context.addBeanFactoryPostProcessor(
                    new LazyInitializationBeanFactoryPostProcessor()))
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              ((ConfigurableApplicationContext) context.getSourceApplicationContext()).stop();
            });
  }

  @Test
  void theClientIsClosedAfterServersAndBeforePools() {
    Seen seen = new Seen();
    inMemory
        .withBean(Seen.class, () -> seen)
        .withBean(Ends.class)
        .withBean(
            AutoCloseable.class,
            () -> () -> seen.add("pool"),
            definition -> definition.setDestroyMethodName("close"))
        .run(context -> assertThat(seen).isEmpty());
    assertThat(seen).containsExactly("server", "client", "pool");
  }

  @Test
  void theClientIsOpenUntilTheRunsOfASchedulerHaveEnded() {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Boolean> closedBefore = new CompletableFuture<>();
    inMemory
        .withBean(ThreadPoolTaskScheduler.class)
        .run(
            context -> {
              ThreadPoolTaskScheduler scheduler = context.getBean(ThreadPoolTaskScheduler.class);
              Pawl pawl = context.getBean(Pawl.class);
              scheduler.execute(
                  () -> {
                    begun.countDown();
                    await().until(() -> !scheduler.isRunning()); // as it waits for its runs
                    closedBefore.complete(pawl.isClosed());
                  });
              begun.await();
            });
    assertThat(closedBefore).isCompletedWithValue(false);
  }

  /** As Spring's scheduler on virtual threads. */
  @Test
  void aRunThatItsSchedulerDoesNotWaitForHasItsLockForTheGrace() {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Boolean> validAtItsEnd = new CompletableFuture<>();
    inMemory
        .withPropertyValues("pawl.shutdown-grace=1m")
        .withBean(SimpleAsyncTaskScheduler.class)
        .run(
            context -> {
              Pawl pawl = context.getBean(Pawl.class);
              Runnable run =
                  () -> {
                    try (Lease lease = pawl.lock("nightly").acquireUninterruptibly()) {
                      begun.countDown();
                      await().until(pawl::isClosed);
                      validAtItsEnd.complete(lease.isValid());
                    }
                  };
              context.getBean(SimpleAsyncTaskScheduler.class).schedule(run, Instant.now());
              begun.await();
            });
    assertThat(validAtItsEnd).isCompletedWithValue(true);
  }

  @Test
  void aRestartIsRefusedRatherThanHalfDone() {
    inMemory.run(
        context -> {
          ConfigurableApplicationContext application = context.getSourceApplicationContext();
          application.stop();
          assertThatThrownBy(application::start)
              .rootCause()
              .hasMessageContaining("not opened again");
        });
  }

  @Test
  void eachPropertyHasADescription() throws Exception {
    String metadata =
        Files.readString(Path.of("target/classes/META-INF/spring-configuration-metadata.json"));
    assertThat(metadata)
        .contains(
            "\"pawl.url\"",
            "\"pawl.store\"",
            "\"pawl.enabled\"",
            "\"pawl.locked.wait-at-most\"",
            "\"pawl.locked.open-transaction\"",
            "\"pawl.retention.idle-locks\"",
            "\"pawl.shutdown-grace\"");
    String properties = metadata.substring(metadata.indexOf("\"properties\""));
    assertThat(count(properties, "\"name\": \"[^\"]*pawl"))
        .isGreaterThan(10)
        .isEqualTo(count(properties, "\"description\": \"[A-Z]"));
  }

  private static int count(String text, String pattern) {
    return (int) java.util.regex.Pattern.compile(pattern).matcher(text).results().count();
  }
}
