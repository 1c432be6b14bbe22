package io.pawl.redis;

import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.LockStore;
import io.pawl.tck.StoreContracts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ClusterContractsTest extends StoreContracts {

  private static RedisCluster cluster;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start(Flavour.REDIS);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Override
  protected LockStore openStore() {
    return RedisStore.connect(Urls.of(cluster));
  }

  /** Baskets need it, and so do counters that are to see the locks of their names. */
  @Override
  protected String counterNamespace(String unique) {
    return "{" + unique + "}";
  }
}
