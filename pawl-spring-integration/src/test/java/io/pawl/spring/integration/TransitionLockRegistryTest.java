package io.pawl.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Three releases of an application side by side: a row, both locks, Pawl's. */
class TransitionLockRegistryTest {

  private static final String TABLE =
      "CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,"
          + " CLIENT_ID CHAR(36), CREATED_DATE DATETIME(6) NOT NULL,"
          + " EXPIRED_AFTER DATETIME(6) NOT NULL, PRIMARY KEY (LOCK_KEY, REGION))";

  private final DriverManagerDataSource database = new DriverManagerDataSource(Servers.mySqlUrl());
  private final JdbcTemplate template = new JdbcTemplate(database);
  private final Pawl pawl;
  private final Pawl otherHost;
  private LockRegistry<?> before;
  private LockRegistry<?> between;
  private LockRegistry<?> after;

  TransitionLockRegistryTest(@TempDir Path directory) {
    pawl = Pawl.connect("sqlite:" + directory.resolve("locks"));
    otherHost = Pawl.connect("sqlite:" + directory.resolve("locks"));
  }

  @BeforeEach
  void createTable() {
    template.execute("DROP TABLE IF EXISTS INT_LOCK");
    template.execute(TABLE);
    before = oldRegistry();
    between = new TransitionLockRegistry(new PawlLockRegistry(pawl), oldRegistry());
    after = new PawlLockRegistry(otherHost, "", LockOptions.defaults());
  }

  @AfterEach
  void close() {
    pawl.close(Duration.ZERO);
    otherHost.close(Duration.ZERO);
  }

  private JdbcLockRegistry oldRegistry() {
    DefaultLockRepository repository = new DefaultLockRepository(database);
    repository.setTransactionManager(new JdbcTransactionManager(database));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    return new JdbcLockRegistry(repository);
  }

  private static boolean isFreeFor(LockRegistry<?> registry) {
    Lock lock = registry.obtain("job");
    boolean taken = lock.tryLock();
    if (taken) {
      lock.unlock();
    }
    return taken;
  }

  @Test
  void eachReleaseSharesALockWithTheNext() throws InterruptedException {
    for (List<LockRegistry<?>> neighbours :
        List.of(
            List.<LockRegistry<?>>of(before, between),
            List.<LockRegistry<?>>of(between, before),
            List.<LockRegistry<?>>of(between, after),
            List.<LockRegistry<?>>of(after, between))) {
      Lock held = neighbours.get(0).obtain("job");
      held.lock();
      assertThat(isFreeFor(neighbours.get(1))).isFalse();
      assertThat(neighbours.get(1).obtain("job").tryLock(1, TimeUnit.SECONDS)).isFalse();
      held.unlock();
      assertThat(isFreeFor(neighbours.get(1))).isTrue();
    }
  }

  @Test
  void whereOneLockIsBusyTheOtherIsLeft() throws InterruptedException {
    Lock old = before.obtain("job");
    old.lock();

    assertThat(between.obtain("job").tryLock()).isFalse();
    assertThat(between.obtain("job").tryLock(1, TimeUnit.SECONDS)).isFalse();
    assertThat(isFreeFor(after)).isTrue();

    old.unlock();
  }

  @Test
  void whereTheOldStoreFailsPawlsLockIsLeft() {
    template.execute("DROP TABLE INT_LOCK");
    Lock lock = between.obtain("job");

    assertThatThrownBy(lock::tryLock).isInstanceOf(RuntimeException.class);

    assertThat(isFreeFor(after)).isTrue();
  }

  @Test
  void aFailureToLeaveTheOldLockLeavesPawls() {
    Lock lock = between.obtain("job");
    lock.lock();
    template.execute("DELETE FROM INT_LOCK");

    assertThatThrownBy(lock::unlock).isInstanceOf(RuntimeException.class);

    assertThat(isFreeFor(after)).isTrue();
    assertThat(isFreeFor(before)).isTrue();
  }

  @Test
  void bothLocksAreTakenAgainByTheThreadThatHoldsThem() {
    Lock lock = between.obtain("job");
    lock.lock();
    assertThat(lock.tryLock()).isTrue();
    lock.unlock();
    assertThat(isFreeFor(before)).isFalse();
    assertThat(isFreeFor(after)).isFalse();

    lock.unlock();
    assertThat(isFreeFor(before)).isTrue();
    assertThat(isFreeFor(after)).isTrue();
  }
}
