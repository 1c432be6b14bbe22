package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import io.pawl.spi.Claim;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A follower that has not heard of its leader for a while serves its clients all the same, and the
 * leader, which hears nothing of them, may end their sessions.
 */
class SilentLeaderTest {

  private final ZooKeeperEnsemble ensemble =
      ZooKeeperEnsemble.start("tickTime=1000", "minSessionTimeout=2000");
  private final ZooKeeperServer leader = ensemble.leader();
  private final ZooKeeperStore store =
      Seam.connect("zk://" + ensemble.followers().get(0).address() + "?tick=1s&timeout=1s");
  private final Seam seam = new Seam(store);

  @AfterEach
  void close() {
    leader.resume();
    store.close();
    ensemble.close();
  }

  private boolean isNotEvenSent(Claim claim) {
    try {
      seam.attempt(claim);
      return false;
    } catch (StoreUnavailableException e) {
      return e.isUnsent();
    }
  }

  @Test
  void p1_oneHolder_nothingIsAskedForWhileTheLeaderSaysNothing() {
    Claim first = seam.claim("first", Duration.ofSeconds(4), 1);
    untilItAnswers(() -> seam.take(first));

    leader.pause();

    await()
        .atMost(Duration.ofSeconds(20)) // the follower waits for its leader for 50 s
        .until(() -> isNotEvenSent(seam.claim("second", Duration.ofSeconds(4), 1)));
    leader.resume();
    untilItAnswers(() -> seam.take(seam.claim("third", Duration.ofSeconds(4), 1)));
  }
}
