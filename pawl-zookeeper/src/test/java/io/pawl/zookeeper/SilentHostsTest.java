package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.Direction;
import io.pawl.servers.FaultProxy;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Hosts that take connections and say nothing. Sessions are long: of minutes. */
class SilentHostsTest {

  private static final int SESSIONS = 6;

  private final ZooKeeperServer server = ZooKeeperServer.start(ContractServers.OPTIONS);
  private final FaultProxy first = FaultProxy.before(server);
  private final FaultProxy second = FaultProxy.before(server);
  private final ZooKeeperStore store =
      ZooKeeperStore.connect(
          "zk://" + address(first) + "," + address(second) + ContractServers.PARAMETERS);
  private final Seam seam = new Seam(store);

  @AfterEach
  void close() {
    heal(first);
    heal(second);
    store.close();
    first.close();
    second.close();
    server.close();
  }

  private static String address(FaultProxy proxy) {
    return proxy.host() + ":" + proxy.port();
  }

  private static void silence(FaultProxy proxy) {
    proxy.blackHole(Direction.TO_SERVER);
    proxy.blackHole(Direction.TO_CLIENT);
  }

  private static void heal(FaultProxy proxy) {
    proxy.reset();
    proxy.heal();
  }

  private Claim claim(int i) {
    return seam.claim("lock" + i, Duration.ofMinutes(3 + i), 1);
  }

  @Test
  void aSessionIsOpenedWithinOneRequestThoughAHostIsSilent() {
    silence(first);

    List<CompletionStage<Standing>> answers = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      answers.add(store.attempt(claim(i), standing -> {}));
    }

    for (CompletionStage<Standing> answer : answers) {
      assertThat(Seam.answer(answer)).isInstanceOf(Standing.Held.class);
    }
  }

  @Test
  void aHostThatFallsSilentIsLeftThoughTheLeaseIsLong() {
    List<Claim> claims = new ArrayList<>();
    for (int i = 0; i < SESSIONS; i++) {
      claims.add(claim(i));
      seam.take(claims.get(i));
    }
    for (FaultProxy each : List.of(first, second)) {
      silence(each);
      for (Claim claim : claims) {
        assertThat(untilItAnswers(() -> seam.renew(claim))).isInstanceOf(Standing.Held.class);
      }
      heal(each);
    }
  }
}
