package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreConfigurationException;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("TLS");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "trustStore=/no/such/file.p12",
        "trustStore={trusted}&trustStorePassword=canary",
        "trustStore=/dev/null",
        "keyStore=/no/such/file.pem",
        "keyStore={pair}&keyStorePassword=canary"
      })
  void filesThatCannotBeUsedAreRefusedAtOnceAndNamed(String files) {
    String named =
        files
            .replace("{trusted}", server.certificates().trustStore().toString())
            .replace("{pair}", server.certificates().keyStore().toString());
    String url = "zk://" + server.secureAddress() + "?tick=100ms&tls=true&" + named;

    assertThatThrownBy(() -> ZooKeeperStore.connect(url))
        .isInstanceOf(StoreConfigurationException.class)
        .hasMessageContaining("correct the path")
        .hasMessageNotContaining("canary");
  }

  @Test
  void theDoctorAsksServersThatSpeakTls() {
    String url = "zk://" + server.secureAddress() + trusting() + "&timeout=20s"; // cold ciphers
    try (ZooKeeperStore store = ZooKeeperStore.connect(url)) {
      assertThat(store.diagnose()).anyMatch(finding -> finding.what().contains("standalone"));
    }
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
