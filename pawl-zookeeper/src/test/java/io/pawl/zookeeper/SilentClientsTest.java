package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A claim of which its client does not speak for its lease is ended by the store. */
class SilentClientsTest {

  private static final Duration SHORT = Duration.ofMillis(100);

  /** Its session lasts for longer than its answers take. */
  private static final String LONG_TICK = "?tick=2s";

  /** Whoever is told that it has gone takes the lock for busy; a hold that came too late is not. */
  @Test
  void p6_someoneGetsIn_aClientThatWaitsForAnAnswerIsNotSilent() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        FaultProxy proxy = FaultProxy.before(server);
        ZooKeeperStore store =
            Seam.connect("zk://" + proxy.host() + ":" + proxy.port() + LONG_TICK)) {
      Seam seam = new Seam(store);
      seam.attempt(seam.claim("opens the session", SHORT, 1));
      proxy.delay(Direction.TO_CLIENT, SHORT.multipliedBy(5));

      Claim impatient = seam.claim("free", SHORT, 1).as(Mode.EXCLUSIVE);

      assertThat(seam.attempt(impatient)).isInstanceOf(Standing.Held.class);
    }
  }

  /** The client may speak of it again between the decision and its end. */
  @Test
  void p1_oneHolder_aClaimThatIsToEndForItsClientsSilenceIsToldToHaveGone() {
    try (ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
        Clock clock = new Clock()) {
      Settings settings =
          Settings.parse(StoreUrl.parse("zk://" + server.address() + ContractServers.PARAMETERS));
      QueuedClaims claims = new QueuedClaims(settings, clock, new Failures(settings.shown()));
      Session session = claims.sessions().of(Seam.LEASE.toMillis());
      Claim claim = new Seam(null).claim("lock");
      QueuedClaim held = new QueuedClaim(claims, claim, standing -> {}, session);
      assertThat(Seam.answer(held.joining().begin())).isInstanceOf(Standing.Held.class);
      assertThat(held.hasFallenSilent(held.silentFrom())).isFalse();
      assertThat(Seam.answer(held.standing())).isInstanceOf(Standing.Held.class);

      assertThat(held.hasFallenSilent(held.silentFrom() + 1)).isTrue();
      held.hear();

      assertThat(Seam.answer(held.standing())).isEqualTo(Standing.GONE);
      claims.close();
    }
  }
}
