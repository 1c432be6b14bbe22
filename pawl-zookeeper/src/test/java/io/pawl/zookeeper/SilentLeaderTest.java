package io.pawl.zookeeper;

import static io.pawl.zookeeper.Seam.untilItAnswers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.error.StoreUnavailableException;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A follower that has not heard of its leader for a while serves its clients all the same, and the
 * leader, which hears nothing of them, may end their sessions.
 */
class SilentLeaderTest {

  private static final Duration LEASE = Duration.ofSeconds(4);

  private final ZooKeeperEnsemble ensemble =
      ZooKeeperEnsemble.start("tickTime=1000", "minSessionTimeout=2000");
  private final ZooKeeperServer leader = ensemble.leader();
  private final ZooKeeperStore store = connect();
  private final ZooKeeperStore other = connect();
  private final Seam seam = new Seam(store);
  private final Seam others = new Seam(other);

  private ZooKeeperStore connect() {
    return Seam.connect("zk://" + ensemble.followers().get(0).address() + "?tick=1s&timeout=1s");
  }

  @AfterEach
  void close() {
    leader.resume();
    store.close();
    other.close();
    ensemble.close();
  }

  private static boolean isNotEvenSent(Seam client, String lock) {
    try {
      client.attempt(client.claim(lock, LEASE, 1));
      return false;
    } catch (StoreUnavailableException e) {
      return e.isUnsent();
    }
  }

  @Test
  void p1_oneHolder_nothingIsAskedForWhileTheLeaderSaysNothing() {
    untilItAnswers(() -> seam.take(seam.claim("first", LEASE, 1)));
    untilItAnswers(() -> others.take(others.claim("second", LEASE, 1)));

    leader.pause();

    // each refusal takes the time-out, and two of them are longer than what was heard is good for
    for (int refusals = 0; refusals < 2; refusals++) {
      await()
          .atMost(Duration.ofSeconds(20)) // the follower waits for its leader for 50 s
          .until(() -> isNotEvenSent(others, "third"));
    }
    assertThat(isNotEvenSent(seam, "third")).isTrue();

    leader.resume();
    untilItAnswers(() -> seam.take(seam.claim("fourth", LEASE, 1)));
  }
}
