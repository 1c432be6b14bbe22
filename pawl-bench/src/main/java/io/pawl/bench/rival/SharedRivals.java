package io.pawl.bench.rival;

import io.pawl.DistributedSemaphore;
import io.pawl.Pawl;
import io.pawl.bench.rival.Rival.Client;
import io.pawl.bench.rival.Rival.Turn;
import io.pawl.options.LockOptions;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Locks that several may have at once, read-write locks and semaphores, all with defaults. */
public final class SharedRivals {

  public static final String READ_WRITE = "Pawl read-write";
  public static final String STRICT_READ_WRITE = "Pawl read-write, strict order";
  public static final String REDISSON_READ_WRITE = "Redisson RReadWriteLock";
  public static final String SEMAPHORE = "Pawl semaphore";
  public static final String STRICT_SEMAPHORE = "Pawl semaphore, strict order";
  public static final String REDISSON_SEMAPHORE = "Redisson RSemaphore";
  public static final String REDISSON_EXPIRABLE = "Redisson RPermitExpirableSemaphore";

  /** How many each semaphore has. */
  public static final int PERMITS = 8;

  private static final long LEASE_SECONDS = 30;

  private SharedRivals() {}

  private record Named(String name, Function<String, Client> connector) implements Rival {

    @Override
    public Client connect(String address) {
      return connector.apply(address);
    }
  }

  /** What a client makes of a name. */
  private interface Way<C> extends BiFunction<C, String, Turn> {}

  public static Rival readWrite() {
    return readWrite(READ_WRITE, LockOptions.defaults());
  }

  public static Rival strictReadWrite() {
    return readWrite(STRICT_READ_WRITE, LockOptions.defaults().strictOrder());
  }

  private static Rival readWrite(String title, LockOptions options) {
    return new Named(
        title,
        address ->
            client(
                Pawl.connect(address),
                (pawl, name) ->
                    new LeaseTurn(pawl.readWriteLock(name, options).writeLock()::acquire),
                (pawl, name) ->
                    new LeaseTurn(pawl.readWriteLock(name, options).readLock()::acquire),
                Pawl::close));
  }

  public static Rival readWriteOfRedisson() {
    return new Named(
        REDISSON_READ_WRITE,
        address ->
            client(
                RedissonLocks.connected(address),
                (redisson, name) -> RedissonLocks.turn(redisson.getReadWriteLock(name).writeLock()),
                (redisson, name) -> RedissonLocks.turn(redisson.getReadWriteLock(name).readLock()),
                RedissonClient::shutdown));
  }

  public static Rival semaphore() {
    return semaphore(SEMAPHORE, LockOptions.defaults());
  }

  public static Rival strictSemaphore() {
    return semaphore(STRICT_SEMAPHORE, LockOptions.defaults().strictOrder());
  }

  private static Rival semaphore(String title, LockOptions options) {
    return new Named(
        title,
        address ->
            client(
                Pawl.connect(address),
                (pawl, name) -> {
                  DistributedSemaphore semaphore = pawl.semaphore(name, PERMITS, options);
                  return new LeaseTurn(() -> semaphore.acquire(1));
                },
                SharedRivals::noReading,
                Pawl::close));
  }

  /** Permits without leases: those of a dead client are gone. */
  public static Rival semaphoreOfRedisson() {
    return new Named(
        REDISSON_SEMAPHORE,
        address ->
            client(
                RedissonLocks.connected(address),
                (redisson, name) -> {
                  RSemaphore semaphore = redisson.getSemaphore(name);
                  semaphore.trySetPermits(PERMITS);
                  return new PermitTurn(semaphore);
                },
                SharedRivals::noReading,
                RedissonClient::shutdown));
  }

  /** Permits with leases, which it does not renew. */
  public static Rival expirableSemaphoreOfRedisson() {
    return new Named(
        REDISSON_EXPIRABLE,
        address ->
            client(
                RedissonLocks.connected(address),
                (redisson, name) -> {
                  RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore(name);
                  semaphore.trySetPermits(PERMITS);
                  return new ExpirablePermitTurn(semaphore);
                },
                SharedRivals::noReading,
                RedissonClient::shutdown));
  }

  private static <C> Turn noReading(C client, String name) {
    throw new UnsupportedOperationException(name + " is a semaphore");
  }

  private static <C> Client client(C connected, Way<C> lock, Way<C> readLock, Consumer<C> close) {
    return new Client() {
      @Override
      public Turn lock(String name) {
        return lock.apply(connected, name);
      }

      @Override
      public Turn readLock(String name) {
        return readLock.apply(connected, name);
      }

      @Override
      public void close() {
        close.accept(connected);
      }
    };
  }

  private record PermitTurn(RSemaphore semaphore) implements Turn {

    @Override
    public long acquire() throws InterruptedException {
      semaphore.acquire();
      return 0;
    }

    @Override
    public void release() {
      semaphore.release();
    }
  }

  private static final class ExpirablePermitTurn implements Turn {

    private final RPermitExpirableSemaphore semaphore;
    private @Nullable String permit;

    ExpirablePermitTurn(RPermitExpirableSemaphore semaphore) {
      this.semaphore = semaphore;
    }

    @Override
    public long acquire() throws InterruptedException {
      permit = semaphore.acquire(LEASE_SECONDS, TimeUnit.SECONDS);
      return 0;
    }

    @Override
    public void release() {
      String taken = permit;
      if (taken != null) {
        semaphore.release(taken);
      }
    }
  }
}
