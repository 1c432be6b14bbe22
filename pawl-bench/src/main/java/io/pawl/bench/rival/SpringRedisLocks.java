package io.pawl.bench.rival;

import java.net.URI;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * Spring Integration's registry on Redis, told of releases by publications. It renews nothing by
 * itself and has no tokens; threads of one JVM that want one lock wait for each other there. Where
 * the server has commands that compare, which Redis has from 8.4 on, it uses them for its scripts.
 */
public final class SpringRedisLocks implements Rival {

  public static final String NAME = "RedisLockRegistry";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Client connect(String address) {
    URI server = URI.create(address);
    LettuceConnectionFactory connections =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(server.getHost(), server.getPort()));
    connections.afterPropertiesSet();
    connections.start();
    ExecutorService listeners = Executors.newCachedThreadPool();
    RedisLockRegistry registry = new RedisLockRegistry(connections, "bench");
    registry.setExecutor(listeners); // its own would end before what uses it
    registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    return new Client() {
      @Override
      public Turn lock(String name) {
        return new LockTurn(registry.obtain(name));
      }

      @Override
      public void close() {
        registry.destroy();
        listeners.shutdown();
        connections.destroy();
      }
    };
  }

  private record LockTurn(Lock lock) implements Turn {

    @Override
    public long acquire() throws InterruptedException {
      lock.lockInterruptibly();
      return 0;
    }

    @Override
    public void release() {
      lock.unlock();
    }
  }
}
