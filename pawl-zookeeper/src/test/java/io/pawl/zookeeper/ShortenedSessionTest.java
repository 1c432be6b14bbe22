package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.options.LockOptions;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import io.pawl.spi.Standing.Held;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
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

      shorten(server, Duration.ofSeconds(20));

      await().untilAsserted(() -> assertThat(lease.isValid()).isFalse());
    }
  }

  /** Its client may trust the hold for a moment longer, and its holder may work on. */
  @Test
  void p1_oneHolder_aHoldWhoseShortestTimeIsOverStandsUntilItsShortenedSessionEnds()
      throws IOException {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        ZooKeeperStore store = connect(server);
        ZooKeeperStore another = connect(server)) {
      Seam here = new Seam(store);
      Seam there = new Seam(another);
      Claim held = here.lasting("lock", Duration.ofMillis(1));
      CompletableFuture<Standing> rung = new CompletableFuture<>();
      assertThat(Seam.answer(store.attempt(held, rung::complete))).isInstanceOf(Held.class);
      shorten(server, Duration.ofSeconds(5));
      assertThat(Seam.answer(rung)).isEqualTo(Standing.GONE);
      long since = System.nanoTime();

      Claim next = there.claim("lock", Duration.ofSeconds(2), 1);
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> Seam.untilItAnswers(() -> there.attempt(next)) instanceof Held);

      assertThat(Duration.ofNanos(System.nanoTime() - since)).isGreaterThan(Duration.ofSeconds(3));
    }
  }

  private static ZooKeeperStore connect(ZooKeeperServer server) {
    return Seam.connect("zk://" + server.address() + ContractServers.PARAMETERS);
  }

  private static void shorten(ZooKeeperServer server, Duration longest) throws IOException {
    Path configuration = server.data().resolveSibling("zoo.cfg");
    String line = "maxSessionTimeout=" + longest.toMillis() + "\n";
    Files.writeString(configuration, line, StandardOpenOption.APPEND);
    server.restart();
  }
}
