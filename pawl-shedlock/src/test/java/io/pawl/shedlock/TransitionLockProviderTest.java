package io.pawl.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Pawl;
import io.pawl.error.StoreException;
import io.pawl.options.PawlOptions;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Three releases of an application side by side: ShedLock's row, both locks, Pawl's. */
class TransitionLockProviderTest {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final String TABLE =
      "CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,"
          + " locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL,"
          + " PRIMARY KEY (name))";

  private final JdbcTemplate template =
      new JdbcTemplate(new DriverManagerDataSource(Servers.mySqlUrl()));
  private final Pawl pawl;
  private final LockProvider before = new JdbcTemplateLockProvider(template);
  private final LockProvider between;
  private final LockProvider after;

  TransitionLockProviderTest(@TempDir Path directory) {
    pawl = Pawl.connect("sqlite:" + directory.resolve("locks"));
    between = new TransitionLockProvider(pawl, before);
    after = new PawlLockProvider(pawl);
  }

  @BeforeEach
  void createTable() {
    template.execute("DROP TABLE IF EXISTS shedlock");
    template.execute(TABLE);
  }

  @AfterEach
  void close() {
    pawl.close(Duration.ZERO);
  }

  private static Optional<SimpleLock> lock(LockProvider by) {
    return lock(by, Duration.ZERO);
  }

  private static Optional<SimpleLock> lock(LockProvider by, Duration atLeast) {
    return by.lock(new LockConfiguration(ClockProvider.now(), "job", LONG, atLeast));
  }

  private static boolean isFreeFor(LockProvider by) {
    Optional<SimpleLock> lock = lock(by);
    lock.ifPresent(SimpleLock::unlock);
    return lock.isPresent();
  }

  @Test
  void theReleaseBetweenSharesALockWithBoth() {
    SimpleLock lock = lock(between).orElseThrow();
    assertThat(lock(before)).isEmpty();
    assertThat(lock(after)).isEmpty();
    assertThat(lock(between)).isEmpty();

    lock.unlock();

    assertThat(isFreeFor(before)).isTrue();
    assertThat(isFreeFor(after)).isTrue();
    assertThat(isFreeFor(between)).isTrue();
  }

  @Test
  void whereOneIsBusyTheOtherIsGivenBack() {
    SimpleLock old = lock(before).orElseThrow();
    assertThat(lock(between, LONG)).isEmpty();
    assertThat(isFreeFor(after)).isTrue();
    old.unlock();

    SimpleLock own = lock(after).orElseThrow();
    assertThat(lock(between, LONG)).isEmpty();
    assertThat(isFreeFor(before)).isTrue();
    own.unlock();

    assertThat(isFreeFor(between)).isTrue();
  }

  private static <X extends Throwable> void throwUndeclared(Throwable checked) throws X {
    @SuppressWarnings("unchecked") // as other languages do
    X undeclared = (X) checked;
    throw undeclared;
  }

  @Test
  void whereTheOldOneThrowsWhatItDoesNotDeclareTheNewOneIsGivenBack() {
    LockProvider throwing =
        new TransitionLockProvider(
            pawl,
            configuration -> {
              TransitionLockProviderTest.<RuntimeException>throwUndeclared(new SQLException());
              return Optional.empty();
            });
    assertThatThrownBy(() -> lock(throwing, LONG)).isInstanceOf(SQLException.class);
    assertThat(isFreeFor(after)).isTrue();

    LockProvider throwingLater =
        new TransitionLockProvider(
            pawl,
            configuration ->
                Optional.of(
                    () ->
                        TransitionLockProviderTest.<RuntimeException>throwUndeclared(
                            new SQLException())));
    SimpleLock lock = lock(throwingLater).orElseThrow();
    assertThatThrownBy(lock::unlock).isInstanceOf(SQLException.class);
    assertThat(isFreeFor(after)).isTrue();
  }

  @Test
  void whereTheOldStoreTakesLongToSayThatItIsBusyTheTaskIsSkippedAllTheSame() {
    assertThat(lockBySlow(Optional.empty())).isEmpty();
  }

  @Test
  void whereTheOldLockComesWhenTheNewOneHasRunOutBothAreLeft() {
    AtomicBoolean unlocked = new AtomicBoolean();

    assertThat(lockBySlow(Optional.of(() -> unlocked.set(true)))).isEmpty();

    assertThat(unlocked).isTrue();
    assertThat(isFreeFor(after)).isTrue();
  }

  /** An old store answers when Pawl's lock is over. */
  private Optional<SimpleLock> lockBySlow(Optional<SimpleLock> answer) {
    LockProvider slow =
        configuration -> {
          await().until(() -> isFreeFor(after));
          return answer;
        };
    return new TransitionLockProvider(pawl, slow)
        .lock(
            new LockConfiguration(
                ClockProvider.now(), "job", Duration.ofMillis(200), Duration.ZERO));
  }

  @Test
  void whereTheOldStoreFailsNothingStaysHeld() {
    template.execute("DROP TABLE shedlock");

    assertThatThrownBy(() -> lock(between)).isInstanceOf(RuntimeException.class);

    assertThat(isFreeFor(after)).isTrue();
  }

  @Test
  void bothStayBusyForTheShortestTime() {
    long begun = System.nanoTime();
    lock(between, Duration.ofSeconds(2)).orElseThrow().unlock();
    assertThat(isFreeFor(before)).isFalse();

    await().until(() -> isFreeFor(after));

    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(2_000_000_000L);
  }

  @Test
  void bothAreExtendedOrNone() {
    SimpleLock lock = lock(between).orElseThrow();
    SimpleLock longer = lock.extend(LONG, Duration.ZERO).orElseThrow();
    assertThatThrownBy(lock::unlock).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO))
        .isInstanceOf(IllegalStateException.class);
    assertThat(lock(before)).isEmpty();
    assertThat(lock(after)).isEmpty();

    template.update("UPDATE shedlock SET lock_until = locked_at");

    assertThat(longer.extend(LONG, Duration.ZERO)).isEmpty();
    assertThat(isFreeFor(after)).isTrue();
  }

  @Test
  void whereTheNewStoreFailsAtAnExtensionTheOldLockIsUnlockedAllTheSame() {
    PawlOptions impatient = PawlOptions.defaults().patience(Duration.ofMillis(200));
    try (RedisServer redis = RedisServer.start();
        Pawl other = Pawl.connect(redis.url(), impatient.shutdownGrace(Duration.ZERO))) {
      SimpleLock lock = lock(new TransitionLockProvider(other, before)).orElseThrow();
      redis.kill();
      assertThatThrownBy(() -> lock.extend(LONG, Duration.ZERO)).isInstanceOf(StoreException.class);
      assertThat(isFreeFor(before)).isFalse();

      lock.unlock();

      assertThat(isFreeFor(before)).isTrue();
    }
  }
}
