package io.pawl.lab.chaos.rival;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

/**
 * Redisson. Its locks know of no loss and of no validity: whoever has one asks Redis whether it has
 * it still.
 */
final class RedissonClients implements RivalClient {

  private final RedissonClient client;

  RedissonClients(String address, long leaseMillis) {
    Config config = new Config();
    config.setLockWatchdogTimeout(leaseMillis);
    config.useSingleServer().setAddress(address);
    this.client = Redisson.create(config);
  }

  @Override
  public RivalLock lock(String name) {
    return new Fenced(client.getFencedLock(name));
  }

  @Override
  public void close() {
    client.shutdown();
  }

  private static final class Fenced implements RivalLock {

    private final RFencedLock lock;
    private @Nullable Long token;

    Fenced(RFencedLock lock) {
      this.lock = lock;
    }

    @Override
    public boolean acquire() {
      try {
        token = lock.lockAndGetToken();
      } catch (RedisException | IllegalStateException e) {
        return false; // the latter when its thread is interrupted
      }
      return token != null;
    }

    @Override
    public boolean acquireInterruptibly() throws InterruptedException {
      try {
        lock.lockInterruptibly();
      } catch (RedisException e) {
        return false;
      }
      Thread.interrupted(); // one that came with the lock
      try {
        token = lock.getToken();
      } catch (RedisException e) {
        release(); // else it would be renewed for ever
        return false;
      }
      return true;
    }

    @Override
    public boolean tryFor(long millis) throws InterruptedException {
      try {
        token = lock.tryLockAndGetToken(millis, TimeUnit.MILLISECONDS);
      } catch (RedisException e) {
        return false;
      }
      return token != null;
    }

    @Override
    public boolean isHeld() {
      try {
        return lock.isHeldByCurrentThread();
      } catch (RedisException e) {
        return false;
      }
    }

    @Override
    public End release() {
      try {
        lock.unlock();
        return End.RELEASED;
      } catch (IllegalMonitorStateException e) {
        return End.LOST;
      } catch (RedisException e) {
        return End.UNCONFIRMED;
      }
    }

    @Override
    public long token() {
      return token == null ? 0 : token;
    }
  }
}
