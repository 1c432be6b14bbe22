package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Certificates;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A server that speaks TLS. */
class TlsTest {

  private static ZooKeeperServer server;

  @BeforeAll
  static void start() {
    server = ZooKeeperServer.startWithTls(ContractServers.OPTIONS);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static String trusting() {
    return ContractServers.PARAMETERS
        + "&tls=true&trustStore="
        + server.certificates().trustStore()
        + "&trustStorePassword="
        + Certificates.STORE_PASSWORD;
  }

  @Test
  void locksAreTakenAndHandedOn() {
    String url = "zk://" + server.secureAddress() + trusting() + "&timeout=20s"; // cold ciphers
    try (ZooKeeperStore store = ZooKeeperStore.connect(url);
        ZooKeeperStore another = ZooKeeperStore.connect(url)) {
      Seam seam = new Seam(store);
      Seam other = new Seam(another);
      Claim claim = seam.claim("lock");
      seam.take(claim);
      Claim next = other.claim("lock");
      assertThat(other.attempt(next)).isInstanceOf(Standing.Waiting.class);
      seam.withdraw(claim);
      assertThat(other.renew(next)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void aServerThatIsNotTrustedIsRefused() {
    String url = "zk://" + server.secureAddress() + "?tick=100ms&timeout=1s&tls=true";

    assertThatThrownBy(() -> ZooKeeperStore.connect(url))
        .isInstanceOf(StoreUnavailableException.class);
  }

  @Test
  void aHoldOutlivesAServerThatFallsSilent() {
    try (FaultProxy proxy = FaultProxy.before(server.host(), server.securePort());
        ZooKeeperStore store =
            Seam.connect(
                "zk://" + proxy.host() + ":" + proxy.port() + trusting() + "&timeout=3s")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("silent");
      Standing.Held held = untilItAnswers(() -> seam.take(claim));
      proxy.blackHole(Direction.TO_CLIENT);
      assertThatThrownBy(() -> seam.renew(claim)).isInstanceOf(StoreUnavailableException.class);
      proxy.reset();
      proxy.heal();

      assertThat(untilItAnswers(() -> seam.renew(claim))).isEqualTo(held);
    }
  }
}
