package io.pawl.lab.chaos.rival;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.sql.DatabaseProduct;
import net.javacrumbs.shedlock.support.LockException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedRuntimeException;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock, whose locks are tried for and last for {@code lockAtMostFor}: a holder knows that it
 * holds until that is over, counted from before its request.
 */
final class ShedLockClient implements RivalClient {

  private static final String TABLE =
      "shedlock (name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL,"
          + " locked_at TIMESTAMP(3) NOT NULL, locked_by VARCHAR(255) NOT NULL)";

  private final HikariDataSource pool;
  private final LockProvider provider;
  private final long leaseMillis;

  ShedLockClient(String address, long leaseMillis) {
    this.leaseMillis = leaseMillis;
    this.pool = Database.pool(address, leaseMillis);
    Database.create(pool, TABLE);
    this.provider =
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .withDatabaseProduct(
                    Database.isPostgres(address)
                        ? DatabaseProduct.POSTGRES_SQL
                        : DatabaseProduct.MY_SQL)
                .withLockedByValue(UUID.randomUUID().toString()) // hosts are all one here
                .usingDbTime()
                .build());
  }

  @Override
  public RivalLock lock(String name) {
    return new Tried(name);
  }

  @Override
  public void close() {
    pool.close();
  }

  private final class Tried implements RivalLock {

    private final String name;
    private @Nullable SimpleLock lock;
    private long until;

    Tried(String name) {
      this.name = name;
    }

    @Override
    public boolean acquire() {
      throw new UnsupportedOperationException("ShedLock has no waits");
    }

    @Override
    public boolean tryFor(long millis) {
      until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
      Duration atMost = Duration.ofMillis(leaseMillis);
      LockConfiguration its = new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO);
      Optional<SimpleLock> granted;
      try {
        granted = provider.lock(its);
      } catch (LockException | NestedRuntimeException e) {
        return false;
      }
      lock = granted.orElse(null);
      return lock != null;
    }

    @Override
    public boolean isHeld() {
      return lock != null && System.nanoTime() - until < 0;
    }

    @Override
    public End release() {
      if (lock == null) {
        throw new IllegalStateException(name + " was not granted");
      }
      boolean wasHeld = isHeld();
      try {
        lock.unlock();
      } catch (LockException | NestedRuntimeException e) {
        return End.UNCONFIRMED;
      }
      return wasHeld ? End.RELEASED : End.LOST; // the release itself never says so
    }
  }
}
