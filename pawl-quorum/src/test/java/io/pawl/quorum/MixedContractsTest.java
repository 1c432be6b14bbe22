package io.pawl.quorum;

import io.pawl.servers.MySqlServer;
import io.pawl.servers.PostgresServer;
import io.pawl.servers.RedisServer;
import io.pawl.spi.LockStore;
import io.pawl.tck.InspectableContract;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Three kinds of server, which share no kind of failure, and of which each takes its own time. */
@Tag(SelectedContracts.WHOLE)
class MixedContractsTest extends SelectedContracts {

  private static RedisServer redis;
  private static MySqlServer mySql;
  private static PostgresServer postgres;

  @BeforeAll
  static void start() {
    redis = RedisServer.start();
    mySql =
        MySqlServer.start(
            MySqlServer.Flavour.MYSQL, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0");
    postgres = PostgresServer.start("fsync=off");
    try (QuorumStore store = RedisNodes.open(nodes())) {
      store.initialize();
    }
  }

  @AfterAll
  static void stop() {
    redis.close();
    mySql.close();
    postgres.close();
  }

  private static String nodes() {
    String user = "?user=" + MySqlServer.USER + "&password=" + MySqlServer.PASSWORD;
    return String.join(
        "|",
        "quorum:?" + QuorumContracts.OPTIONS,
        redis.url(),
        mySql.jdbcUrl() + user,
        postgres.jdbcUrl() + user);
  }

  @Override
  String url() {
    return nodes();
  }

  @Nested
  class Inspecting extends InspectableContract {
    @Override
    protected LockStore openStore() {
      return open();
    }

    @Override
    protected Duration shortLease() {
      return SHORT_LEASE;
    }
  }
}
