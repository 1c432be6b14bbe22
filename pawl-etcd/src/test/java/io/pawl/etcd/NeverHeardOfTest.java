package io.pawl.etcd;

import static io.pawl.tck.rig.Bench.eventually;

import io.pawl.servers.EtcdServer;
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
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        LockStore store = Stores.open(StoreUrl.parse(Urls.of(server)));
        LockStore another = Stores.open(StoreUrl.parse(Urls.of(server)))) {
      SeamClient here = new SeamClient(store);
      SeamClient there = new SeamClient(another);
      Hold first = there.take("lock");
      here.ask("lock").lease(Duration.ofSeconds(2)).minHold(Duration.ofMinutes(1)).stand();

      there.withdraw(first);

      eventually(() -> here.findsFree("lock"));
    }
  }
}
