package io.pawl.lab.chaos.rival;

import io.pawl.lab.rival.Versions;
import net.javacrumbs.shedlock.core.LockProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.redisson.Redisson;
import org.springframework.integration.support.locks.DistributedLock;

/** Another library, in the best of its settings that fits leases as short as a run's. */
public enum Rival {
  /** Its {@code RFencedLock} by its own defaults, with a watchdog as short as Pawl's leases. */
  REDISSON("Redisson", Redisson.class, true, true, true) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new RedissonClients(address, leaseMillis);
    }
  },
  /** Its {@code InterProcessMutex}, of which a listener hears what becomes of the connection. */
  CURATOR("Curator", InterProcessMutex.class, false, true, true) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new CuratorClient(address, leaseMillis);
    }
  },
  /**
   * Its registries: Redis with publications and renewals by a scheduler, databases with renewals by
   * whoever is inside, which is all that they have.
   */
  SPRING_INTEGRATION("Spring Integration", DistributedLock.class, false, true, true) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return address.startsWith(Database.SCHEME)
          ? new SpringJdbcClient(address, leaseMillis)
          : new SpringRedisClient(address, leaseMillis);
    }
  },
  /**
   * Its {@code JdbcTemplateLockProvider} by the clock of the database. Its {@code
   * KeepAliveLockProvider} refuses leases of less than 30 s, so nothing renews.
   */
  SHEDLOCK("ShedLock", LockProvider.class, false, false, false) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new ShedLockClient(address, leaseMillis);
    }
  };

  private final String title;
  private final boolean hasTokens;
  private final boolean canWait;
  private final boolean renews;

  Rival(String name, Class<?> type, boolean hasTokens, boolean canWait, boolean renews) {
    this.title = Versions.of(name, type);
    this.hasTokens = hasTokens;
    this.canWait = canWait;
    this.renews = renews;
  }

  /**
   * Opens a client; throws what the library throws where the store is away.
   *
   * @param address as Pawl writes it
   */
  public abstract RivalClient open(String address, long leaseMillis);

  /** Its name and version. */
  public String title() {
    return title;
  }

  public boolean hasTokens() {
    return hasTokens;
  }

  public boolean canWait() {
    return canWait;
  }

  /** How long a body may last that nothing but a fault is to break. */
  public long longestBodyMillis(long leaseMillis) {
    return renews ? 2 * leaseMillis : leaseMillis / 2;
  }
}
