package io.pawl.zookeeper;

import static io.pawl.tck.rig.Bench.eventually;

import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A waiter whose client lives on, so that nothing but its own silence tells the store. */
class NeverHeardOfTest {

  @Test
  void aWaiterThatIsGrantedAndNeverHeardOfAgainCostsItsLease() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        LockStore store =
            Stores.open(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS));
        LockStore another =
            Stores.open(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS))) {
      SeamClient here = new SeamClient(store);
      SeamClient there = new SeamClient(another);
      Hold first = there.take("lock");
      here.ask("lock").lease(Duration.ofSeconds(2)).minHold(Duration.ofMinutes(1)).stand();

      there.withdraw(first);

      eventually(() -> here.findsFree("lock"));
    }
  }
}
