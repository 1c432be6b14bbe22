package io.pawl.bench.rival;

import com.zaxxer.hikari.HikariDataSource;
import java.util.concurrent.locks.Lock;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Spring Integration's registry with its defaults: time to live 10 s, 100 ms between tries. */
public final class SpringLocks implements Rival {

  public static final String NAME = "JdbcLockRegistry";

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
    JdbcLockRegistry registry = new JdbcLockRegistry(repository);
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
