package io.pawl.lab.rival;

import io.pawl.lab.stage.Stage;
import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Clients of Redisson whose watchdog is as short as Pawl's leases here; all else is its default.
 */
final class RedissonClients {

  static final String TITLE = Versions.of("Redisson", Redisson.class);

  /** Of its watchdog: how long a lock lives after the last renewal, each third of it. */
  static final Duration WATCHDOG = Stage.RENEWED;

  private RedissonClients() {}

  static RedissonClient on(Stage stage) {
    return at(stage, stage.ground().redis().url());
  }

  static RedissonClient at(Stage stage, String url) {
    Config config = new Config();
    config.setLockWatchdogTimeout(WATCHDOG.toMillis());
    config.useSingleServer().setAddress(url).setConnectionMinimumIdleSize(1);
    RedissonClient client = Redisson.create(config);
    stage.own(() -> client.shutdown());
    return client;
  }
}
