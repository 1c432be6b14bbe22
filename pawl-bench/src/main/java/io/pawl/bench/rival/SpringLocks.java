package io.pawl.bench.rival;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's registry, 100 ms between tries. It renews nothing by itself. */
public final class SpringLocks implements Rival {

  public static final String NAME = "JdbcLockRegistry";

  private final Duration timeToLive;

  /** With its default time to live, 10 s. */
  public SpringLocks() {
    this(Duration.ofSeconds(10));
  }

  /** For locks that are held for longer. */
  public SpringLocks(Duration timeToLive) {
    this.timeToLive = timeToLive;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    HikariDataSource pool = SqlPool.open(address, SqlPool.USUAL_SIZE, true);
    DefaultLockRepository repository = new DefaultLockRepository(pool);
    repository.setTransactionManager(new JdbcTransactionManager(pool));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    JdbcLockRegistry registry = new JdbcLockRegistry(repository, timeToLive);
    return new Client() {
      @Override
      public Turn lock(String name) {
        Lock lock = registry.obtain(name);
        return new Turn() {
          @Override
          public long acquire() throws InterruptedException {
            lock.lockInterruptibly();
            return 0;
          }

          @Override
          public void release() {
            lock.unlock();
          }
        };
      }

      @Override
      public void close() {
        repository.close();
        pool.close();
      }
    };
  }
}
