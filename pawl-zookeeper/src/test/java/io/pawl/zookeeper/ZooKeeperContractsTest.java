package io.pawl.zookeeper;

import io.pawl.servers.ZooKeeperServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ZooKeeperContractsTest extends LockContracts {

  private static ZooKeeperServer server;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.start(ContractServers::age, ContractServers.OPTIONS);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected String url() {
    return "zk://" + server.address() + "/contracts" + ContractServers.PARAMETERS;
  }
}
