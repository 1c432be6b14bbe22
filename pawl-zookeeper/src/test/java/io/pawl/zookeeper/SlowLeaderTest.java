package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A leader that is far away answers too late for short ticks: no answer is new enough. */
class SlowLeaderTest {

  private static final Duration FAR = Duration.ofMillis(150);

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy proxy = FaultProxy.before(server);

  @AfterEach
  void close() {
    proxy.close();
    server.close();
  }

  private ZooKeeperStore connect(String tick) {
    proxy.delay(Direction.TO_CLIENT, FAR);
    return Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + "?timeout=2s&tick=" + tick);
  }

  @Test
  void aRefusalSaysThatTheTickIsTooShortForTheAnswers() {
    try (ZooKeeperStore store = connect("100ms")) {
      Seam seam = new Seam(store);

      await() // what a session is opened with counts for a while, and a pause may cut it off
          .atMost(Duration.ofSeconds(30))
          .until(() -> refusal(seam), refusal -> refusal.contains("give a longer tick"));
    }
  }

  /** Of what was not sent; empty where it was. */
  private static String refusal(Seam seam) {
    StoreUnavailableException refused =
        catchThrowableOfType(
            StoreUnavailableException.class, () -> seam.attempt(seam.claim("lock")));
    return refused != null && refused.isUnsent() ? refused.getMessage() : "";
  }

  @Test
  void p6_someoneGetsIn_aTickLongerThanTheEnsemblesIsGoodForSlowAnswers() {
    try (ZooKeeperStore store = connect("1s")) {
      Seam seam = new Seam(store);
      Claim claim = seam.claim("lock");
      Seam.untilItAnswers(() -> seam.take(claim));

      for (int i = 0; i < 20; i++) {
        assertThat(Seam.untilItAnswers(() -> seam.renew(claim))).isInstanceOf(Standing.Held.class);
      }
    }
  }
}
