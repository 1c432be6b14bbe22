package io.pawl.lab.chaos.rival;

/** Another library, in the best of its settings that fits leases as short as a run's. */
public enum Rival {
  /** Its {@code RFencedLock} by its own defaults, with a watchdog as short as Pawl's leases. */
  REDISSON(true, true, true) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new RedissonClients(address, leaseMillis);
    }
  },
  /** Its {@code InterProcessMutex}, of which a listener hears what becomes of the connection. */
  CURATOR(false, true, true) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new CuratorClient(address, leaseMillis);
    }
  },
  /**
   * Its registries: Redis with publications and renewals by a scheduler, databases with renewals by
   * whoever is inside, which is all that they have.
   */
  SPRING_INTEGRATION(false, true, true) {
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
  SHEDLOCK(false, false, false) {
    @Override
    public RivalClient open(String address, long leaseMillis) {
      return new ShedLockClient(address, leaseMillis);
    }
  };

  private final boolean hasTokens;
  private final boolean canWait;
  private final boolean renews;

  Rival(boolean hasTokens, boolean canWait, boolean renews) {
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
