package io.pawl.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** An operator's clock differs from that of the service, by which shortest holds are over. */
class ServiceTimeTest {

  private static final Duration SHORTEST = Duration.ofSeconds(2);

  private final ZooKeeperServer server =
      ZooKeeperServer.startWithClock(Duration.ofHours(1), ContractServers.OPTIONS);
  private final ZooKeeperStore operator = Seam.connect(url());

  private String url() {
    return "zk://" + server.address() + ContractServers.PARAMETERS;
  }

  @AfterEach
  void close() {
    operator.close();
    server.close();
  }

  /** The hold goes on for a while after its client has gone, and its node for longer. */
  private void leaveAShortestHold(String lock) {
    try (ZooKeeperStore store = Seam.connect(url())) {
      Seam seam = new Seam(store);
      Claim claim = seam.lasting(lock, SHORTEST);
      seam.take(claim);
      seam.withdraw(claim);
    }
  }

  @Test
  void aShortestHoldThatIsOverThereKeepsNoKind() {
    leaveAShortestHold("kind");

    await().until(() -> Seam.answer(operator.setKind("kind", Kind.semaphore(2))));

    Optional<LockView> view = Seam.answer(operator.show("kind"));
    assertThat(view.orElseThrow().kind()).isEqualTo(Kind.semaphore(2));
  }

  @Test
  void aShortestHoldThatIsNotOverThereCanBeEvictedOnce() {
    try (ZooKeeperStore store = Seam.connect(url())) {
      Seam seam = new Seam(store);
      Claim claim = seam.lasting("evicted", Duration.ofHours(2));
      long token = seam.take(claim).token();
      seam.withdraw(claim);

      assertThat(Seam.answer(operator.setKind("evicted", Kind.semaphore(2)))).isFalse();
      assertThat(Seam.answer(operator.evict("evicted", token))).isTrue();
      assertThat(Seam.answer(operator.evict("evicted", token))).isFalse();
      assertThat(Seam.answer(operator.setKind("evicted", Kind.semaphore(2)))).isTrue();
    }
  }
}
