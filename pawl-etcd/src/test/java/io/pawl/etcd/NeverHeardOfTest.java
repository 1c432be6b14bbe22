package io.pawl.etcd;

import static io.pawl.tck.rig.Bench.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.EtcdServer;
import io.pawl.spi.LockStore;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import io.pawl.tck.rig.Bench;
import io.pawl.tck.rig.SeamClient;
import io.pawl.tck.rig.SeamClient.Hold;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Claims whose client lives on, so that nothing but their own silence tells the store. */
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

  /** As in a group that stood still for longer than the lease, and waits for another lock. */
  @Test
  void p6_someoneGetsIn_aHoldUnderWhichNobodyWorkedEndsThoughItsClientFellSilentBefore() {
    try (EtcdServer server = EtcdServer.start(Urls.QUICK);
        LockStore store = Stores.open(StoreUrl.parse(Urls.of(server)));
        LockStore another = Stores.open(StoreUrl.parse(Urls.of(server)))) {
      SeamClient here = new SeamClient(store);
      SeamClient there = new SeamClient(another);
      Duration lease = Duration.ofSeconds(2);
      long sentAt = System.nanoTime();
      Hold hold = here.ask("lock").lease(lease).minHold(Duration.ofMinutes(1)).take();
      Bench.passed(sentAt, lease.multipliedBy(2));

      here.withdraw(hold.claim().withMinHold(Duration.ZERO));

      assertThat(there.findsFree("lock")).isTrue();
    }
  }
}
