package io.pawl.spring.integration;

import io.pawl.servers.MySqlServer;
import io.pawl.servers.RedisServer;

/** The servers that the tests of this module share, each started when first asked for. */
final class Servers {

  private Servers() {}

  private static final class Redis {
    static final RedisServer SERVER = RedisServer.start();
  }

  private static final class MySql {
    static final MySqlServer SERVER =
        MySqlServer.start(
            MySqlServer.Flavour.MYSQL, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0");
  }

  static RedisServer redis() {
    return Redis.SERVER;
  }

  static MySqlServer mySql() {
    return MySql.SERVER;
  }

  static String mySqlUrl() {
    return mySql().jdbcUrl() + "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD;
  }
}
