package io.pawl.zookeeper;

import io.pawl.servers.ZooKeeperEnsemble;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class EnsembleContractsTest extends LockContracts {

  private static ZooKeeperEnsemble ensemble;

  @BeforeAll
  static void start() {
    ensemble = ZooKeeperEnsemble.start(ContractServers::age, ContractServers.OPTIONS);
  }

  @AfterAll
  static void stop() {
    ensemble.close();
  }

  @Override
  protected String url() {
    return "zk://" + ensemble.addresses() + "/contracts" + ContractServers.PARAMETERS;
  }
}
