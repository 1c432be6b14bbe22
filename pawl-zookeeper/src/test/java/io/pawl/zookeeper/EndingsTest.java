package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.DistributedLock;
import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.ZooKeeperEnsemble;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Each length of lease has a session, and two sessions may be at two servers. */
class EndingsTest {

  private static final LockOptions LATE = LockOptions.defaults().releaseInBackground();

  private static final int CLIENTS = 6;

  @Test
  void anAttemptComesAfterTheReleaseOfALeaseOfAnotherLength() {
    try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(ContractServers.OPTIONS)) {
      for (int i = 0; i < CLIENTS; i++) { // each goes to servers of its own
        try (Pawl pawl = Pawl.connect("zk://" + ensemble.addresses() + "/endings")) {
          findsNoRemnant(
              pawl.lock("lock", LATE), pawl.lock("lock", LATE.lease(Duration.ofSeconds(20))));
        }
      }
    }
  }

  private static void findsNoRemnant(DistributedLock one, DistributedLock another) {
    long last = 0;
    for (int i = 0; i < 100; i++) {
      try (Lease lease = (i % 2 == 0 ? one : another).tryAcquire().orElseThrow()) {
        assertThat(lease.token()).isGreaterThan(last);
        last = lease.token();
      }
    }
  }
}
