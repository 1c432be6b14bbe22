package io.pawl.etcd;

import io.pawl.servers.EtcdCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class EtcdClusterContractsTest extends LockContracts {

  private static EtcdCluster cluster;

  @BeforeAll
  static void start() {
    cluster = EtcdCluster.start(Urls.QUICK);
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  @Override
  protected String url() {
    return "etcd://" + cluster.addresses() + "/shared/pawl";
  }
}
