package io.pawl.etcd;

import io.pawl.servers.EtcdServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class EtcdContractsTest extends LockContracts {

  private static EtcdServer server;

  @BeforeAll
  static void start() {
    server = EtcdServer.start(Urls.QUICK);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected String url() {
    return Urls.of(server);
  }
}
