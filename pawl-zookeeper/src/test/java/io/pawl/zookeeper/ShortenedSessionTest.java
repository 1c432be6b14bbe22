package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.ZooKeeperServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The server to which a client comes back grants shorter sessions than the one before. */
class ShortenedSessionTest {

  /** Renewed only after the test. */
  private static final LockOptions LONG = LockOptions.defaults().lease(Duration.ofMinutes(5));

  @Test
  void p1_oneHolder_aHoldEndsAsSoonAsItsSessionIsShortened() throws IOException {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        Pawl pawl = Pawl.connect("zk://" + server.address() + ContractServers.PARAMETERS)) {
      Lease lease = pawl.lock("lock", LONG).tryAcquire().orElseThrow();
      Path configuration = server.data().resolveSibling("zoo.cfg");
      Files.writeString(configuration, "maxSessionTimeout=20000\n", StandardOpenOption.APPEND);
      server.restart();

      await().untilAsserted(() -> assertThat(lease.isValid()).isFalse());
    }
  }
}
