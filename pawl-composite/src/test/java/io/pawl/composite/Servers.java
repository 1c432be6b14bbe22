package io.pawl.composite;

import io.pawl.Stores;
import io.pawl.servers.MySqlServer;
import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import java.time.Duration;

/** The servers that the tests of this module share, each started when first asked for. */
final class Servers {

  /** Of all that these tests say, only the crash of a host needs the disk. */
  private static final String[] LAZY = {
    "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0", "--innodb-lock-wait-timeout=5"
  };

  /** What the contracts let run out; commits of the tests beside this one may take a while. */
  static final Duration SHORT_LEASE = Duration.ofMillis(600);

  /** The gate's hiccups on a busy machine are no faults. */
  static final GateOptions PATIENT = GateOptions.defaults().gatePatience(Duration.ofSeconds(10));

  private Servers() {}

  private static final class Redis {
    static final RedisServer SERVER = RedisServer.start();
  }

  private static final class MySql {
    static final MySqlServer SERVER = MySqlServer.start(MySqlServer.Flavour.MYSQL, LAZY);
  }

  static String redisUrl() {
    return Redis.SERVER.url();
  }

  static String mySqlUrl() {
    return MySql.SERVER.jdbcUrl()
        + "?user="
        + MySqlServer.USER
        + "&password="
        + MySqlServer.PASSWORD;
  }

  static LockStore open(String url) {
    return Stores.open(StoreUrl.parse(url));
  }
}
