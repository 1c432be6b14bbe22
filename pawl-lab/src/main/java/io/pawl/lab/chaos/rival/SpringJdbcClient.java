package io.pawl.lab.chaos.rival;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;

/** Spring Integration's {@code JdbcLockRegistry}, with the insert that its manual recommends. */
final class SpringJdbcClient implements RivalClient {

  private static final String COLUMNS =
      " (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36),"
          + " CREATED_DATE %1$s NOT NULL, EXPIRED_AFTER %1$s NOT NULL,"
          + " PRIMARY KEY (LOCK_KEY, REGION))";

  private final HikariDataSource pool;
  private final JdbcLockRegistry registry;

  SpringJdbcClient(String address, long leaseMillis) {
    boolean isPostgres = Database.isPostgres(address);
    this.pool = Database.pool(address, leaseMillis);
    Database.create(
        pool, "INT_LOCK" + String.format(COLUMNS, isPostgres ? "TIMESTAMP" : "DATETIME(6)"));
    DefaultLockRepository repository = new DefaultLockRepository(pool);
    if (isPostgres) {
      repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
    }
    repository.setTransactionManager(new DataSourceTransactionManager(pool));
    repository.setCheckDatabaseOnStart(false);
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    this.registry = new JdbcLockRegistry(repository, Duration.ofMillis(leaseMillis));
  }

  @Override
  public RivalLock lock(String name) {
    return new SpringLock(registry, name);
  }

  @Override
  public void close() {
    pool.close();
  }
}
