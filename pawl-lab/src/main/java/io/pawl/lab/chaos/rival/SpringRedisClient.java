package io.pawl.lab.chaos.rival;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring Integration's {@code RedisLockRegistry}, with publications and renewals. */
final class SpringRedisClient implements RivalClient {

  private static final int RENEWERS = 4;

  private final LettuceConnectionFactory connections;
  private final ThreadPoolTaskScheduler renewals = new ThreadPoolTaskScheduler();
  private final ExecutorService listeners = Executors.newCachedThreadPool();
  private final RedisLockRegistry registry;

  /**
   * @param leaseMillis of locks, and how long a command may take
   */
  SpringRedisClient(String address, long leaseMillis) {
    URI uri = URI.create(address);
    Duration lease = Duration.ofMillis(leaseMillis);
    this.connections =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(uri.getHost(), uri.getPort()),
            LettuceClientConfiguration.builder().commandTimeout(lease).build());
    connections.afterPropertiesSet();
    connections.start();
    renewals.setPoolSize(RENEWERS);
    renewals.setDaemon(true);
    renewals.setRemoveOnCancelPolicy(true);
    renewals.setErrorHandler(error -> {}); // one that failed comes again
    renewals.afterPropertiesSet();
    this.registry = new RedisLockRegistry(connections, "chaos", lease);
    registry.setExecutor(listeners); // its own would end before what uses it
    registry.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    registry.setRenewalTaskScheduler(renewals);
  }

  @Override
  public RivalLock lock(String name) {
    return new SpringLock(registry, name);
  }

  @Override
  public void close() {
    registry.destroy();
    listeners.shutdown();
    renewals.destroy();
    connections.destroy();
  }
}
