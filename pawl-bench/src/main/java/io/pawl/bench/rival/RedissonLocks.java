package io.pawl.bench.rival;

import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson's locks with its defaults: a lease of 30 s under its watchdog. */
public final class RedissonLocks implements Rival {

  /** Which of its locks. */
  public enum Kind {
    PLAIN("Redisson RLock"),
    FAIR("Redisson fair"),
    SPIN("Redisson spin");

    public final String title;

    Kind(String title) {
      this.title = title;
    }

    RLock lock(RedissonClient redisson, String name) {
      return switch (this) {
        case PLAIN -> redisson.getLock(name);
        case FAIR -> redisson.getFairLock(name);
        case SPIN -> redisson.getSpinLock(name);
      };
    }
  }

  private final Kind kind;

  public RedissonLocks(Kind kind) {
    this.kind = kind;
  }

  @Override
  public String name() {
    return kind.title;
  }

  @Override
  public Client connect(String address) {
    RedissonClient redisson = connected(address);
    return new Client() {
      @Override
      public Turn lock(String name) {
        return turn(kind.lock(redisson, name));
      }

      @Override
      public void close() {
        redisson.shutdown();
      }
    };
  }

  /** A client with Redisson's defaults. */
  public static RedissonClient connected(String address) {
    Config config = new Config();
    config.useSingleServer().setAddress(address);
    return Redisson.create(config);
  }

  static Turn turn(RLock lock) {
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
}
