package io.pawl.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Pawl;
import io.pawl.error.StoreConfigurationException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.servers.RedisServer;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import io.pawl.spi.StoreUrl;
import io.pawl.spi.Stores;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QuorumProviderTest {

  private static void assertRefused(String url, String says) {
    assertThatThrownBy(() -> Stores.open(StoreUrl.parse(url)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(says);
  }

  @Test
  void urlsThatMakeNoQuorumAreRefusedWithTheReason() {
    assertRefused("quorum:redis://a|redis://b", "2 nodes; name 3, 5 or 7");
    assertRefused("quorum:redis://a|redis://b|redis://c|redis://d", "4 nodes");
    assertRefused("quorum:redis://a|redis://b|redis://a", "stands there twice");
    assertRefused("quorum:?nodes=3|redis://a|redis://b|redis://c", "nodes");
    assertRefused("quorum:?longestLease=1ms|redis://a|redis://b|redis://c", "longestLease");
    assertRefused("quorum:?longestLease=30s", "write quorum:");
    assertRefused("quorum:nothing", "write quorum:");
  }

  @Test
  void memoryIsNoNode() {
    List<MemoryStore> nodes = List.of(new MemoryStore(), new MemoryStore(), new MemoryStore());
    assertThatThrownBy(() -> QuorumStore.over(nodes, QuorumOptions.defaults()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("cannot be a node");
  }

  /** One that is away was left for later, and refused by the clients that came after its return. */
  @ParameterizedTest
  @ValueSource(
      strings = {"etcd", "etcds", "zk", "zookeeper", "redis-cluster", "valkey-cluster", "gate"})
  void aKindOfStoreThatIsNoNodeIsRefusedThoughItIsAway(String scheme) {
    try (RedisServer one = RedisServer.start();
        RedisServer other = RedisServer.start()) {
      String away = scheme + "://127.0.0.1:1";
      String url = "quorum:" + away + "|" + one.url() + "|" + other.url();
      assertRefused(url, "cannot be a node");
    }
  }

  @Test
  void passwordsOfAllNodesAreHidden() {
    String url = "quorum:redis://:canary1@a|redis://:canary2@b|redis://:canary3@c";
    assertThat(StoreUrl.parse(url)).hasToString("quorum:redis://***@a|redis://***@b|redis://***@c");
  }

  @Test
  void aServerUnderTwoNamesIsFoundOut() {
    try (RedisServer one = RedisServer.start();
        RedisServer other = RedisServer.start()) {
      String again = "redis://localhost:" + one.port() + "/1";
      String url = "quorum:" + one.url() + "|" + again + "|" + other.url();
      assertThatThrownBy(() -> Stores.open(StoreUrl.parse(url)))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("are the same server");
    }
  }

  @Test
  void whatAQuorumCannotKeepIsRefusedWithTheFix() {
    try (RedisNodes nodes = new RedisNodes(3, "longestLease=5s");
        Pawl pawl = Pawl.connect(nodes.url())) {
      assertThatThrownBy(() -> pawl.semaphore("permits", 3).acquire(1))
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("keep the semaphore in one store");
      LockOptions longer = LockOptions.defaults().lease(Duration.ofSeconds(6));
      assertThatThrownBy(() -> pawl.lock("long", longer).acquire())
          .isInstanceOf(StoreConfigurationException.class)
          .hasMessageContaining("longestLease");
      try (QuorumStore different = RedisNodes.open(nodes.url().replace("=5s", "=6s"));
          Pawl other = Pawl.over(different)) {
        assertThatThrownBy(
                () ->
                    other.lock("x", LockOptions.defaults().lease(Duration.ofSeconds(1))).acquire())
            .isInstanceOf(StoreConfigurationException.class)
            .hasMessageContaining("longestLease");
      }
    }
  }

  @Test
  void theDoctorSaysWhoVotes() {
    try (RedisNodes nodes = new RedisNodes(3, "longestLease=5s");
        QuorumStore store = nodes.open()) {
      List<Finding> whole = store.diagnose();
      assertThat(whole).extracting(Finding::level).doesNotContain(Level.PROBLEM);
      assertThat(whole.get(0).what()).startsWith("3 of 3 nodes vote, 2 have to");
      nodes.server(0).call("DEL", "pawl:quorum");
      nodes.server(1).kill();
      List<Finding> findings = store.diagnose();
      assertThat(findings.get(0).level()).isEqualTo(Level.PROBLEM);
      assertThat(findings.get(0).what()).startsWith("1 of 3 nodes vote");
      assertThat(findings.toString()).contains("may have forgotten", "does not answer");
    }
  }
}
