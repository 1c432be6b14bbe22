package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.ServerProcess;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Standing;
import io.pawl.tck.rig.Bench;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers that die, stand still and come back, a few or most of them. */
class EnsembleFaultsTest {

  private static final Duration STANDSTILL = Duration.ofSeconds(10);

  private final ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start(ContractServers.OPTIONS);
  private final String url = "zk://" + ensemble.addresses() + "?tick=100ms&timeout=3s";
  private final ZooKeeperStore store = Seam.connect(url);
  private final ZooKeeperStore another = Seam.connect(url);
  private final Seam here = new Seam(store);
  private final Seam there = new Seam(another);
  private final Claim claim = here.claim("held");
  private final Claim waiter = there.claim("held");
  private final Standing.Held held = untilItAnswers(() -> here.take(claim));

  @AfterEach
  void close() {
    ensemble.members().stream().filter(ServerProcess::isAlive).forEach(ServerProcess::resume);
    store.close();
    another.close();
    ensemble.close();
  }

  private void assertStillHeldAndHandedOn() {
    assertThat(untilItAnswers(() -> here.renew(claim))).isEqualTo(held);
    assertThat(untilItAnswers(() -> there.attempt(waiter))).isInstanceOf(Standing.Waiting.class);
    untilItAnswers(() -> here.withdraw(claim));
    Standing.Held next = (Standing.Held) untilItAnswers(() -> there.renew(waiter));
    assertThat(next.token()).isGreaterThan(held.lastToken());
    LockView view = untilItAnswers(() -> Seam.answer(another.show("held"))).orElseThrow();
    assertThat(view.holders()).hasSize(1);
    assertThat(view.waiters()).isEmpty();
  }

  @Test
  void aHoldAndItsQueueOutliveTheLeader() {
    ensemble.leader().kill();
    ensemble.awaitQuorum(2);

    assertStillHeldAndHandedOn();
  }

  @Test
  void aHoldAndItsQueueOutliveALeaderThatStandsStill() {
    ZooKeeperServer stopped = ensemble.leader();
    long start = System.nanoTime();
    stopped.pause();
    ensemble.awaitQuorum(2);

    assertThat(untilItAnswers(() -> here.renew(claim))).isEqualTo(held);
    Bench.passed(start, STANDSTILL);
    stopped.resume();
    assertStillHeldAndHandedOn();
  }

  @Test
  void aMinorityThatIsDownStopsNobody() {
    ensemble.followers().get(0).kill();

    assertStillHeldAndHandedOn();
  }

  @Test
  void aMajorityThatIsDownGrantsNothingAndHoldsOutliveItsReturn() {
    List<ZooKeeperServer> followers = ensemble.followers();
    followers.forEach(ServerProcess::kill);
    Claim refused = there.claim("meanwhile");
    assertThatThrownBy(() -> there.attempt(refused)).isInstanceOf(StoreUnavailableException.class);
    assertThatThrownBy(() -> here.renew(claim)).isInstanceOf(StoreUnavailableException.class);

    followers.forEach(ServerProcess::restart);
    ensemble.awaitQuorum(3);

    untilItAnswers(() -> there.withdraw(refused.asUnsettled()));
    assertStillHeldAndHandedOn();
    untilItAnswers(() -> here.take(here.claim("meanwhile")));
  }

  @Test
  void aSessionMovesFromServerToServer() {
    for (ZooKeeperServer member : ensemble.members()) {
      member.restart();
      ensemble.awaitQuorum(3);
      assertThat(untilItAnswers(() -> here.renew(claim))).isEqualTo(held);
    }
    assertStillHeldAndHandedOn();
  }
}
