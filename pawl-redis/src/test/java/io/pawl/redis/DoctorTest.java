package io.pawl.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.servers.RedisCluster;
import io.pawl.servers.RedisServer;
import io.pawl.servers.RedisServer.Flavour;
import io.pawl.spi.Diagnosable.Finding;
import io.pawl.spi.Diagnosable.Level;
import java.util.List;
import org.junit.jupiter.api.Test;

class DoctorTest {

  private static List<String> of(List<Finding> findings, Level level) {
    assertThat(findings).allMatch(found -> found.level() == Level.OK || !found.fix().isEmpty());
    return findings.stream().filter(found -> found.level() == level).map(Finding::what).toList();
  }

  @Test
  void aServerIsDescribedWithItsRisks() {
    try (RedisServer server = RedisServer.setup().flavour(Flavour.VALKEY).start();
        RedisStore store = RedisStore.connect(server.url())) {
      server.call("CONFIG", "SET", "maxmemory", "100mb");
      server.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      List<Finding> findings = store.diagnose();
      assertThat(of(findings, Level.OK))
          .anyMatch(what -> what.contains("Valkey 8"))
          .anyMatch(what -> what.contains("role master"))
          .anyMatch(what -> what.contains("clock is"));
      assertThat(findings).anyMatch(found -> found.what().contains("p99"));
      assertThat(of(findings, Level.WARNING)).anyMatch(what -> what.contains("appendonly"));
      assertThat(of(findings, Level.PROBLEM)).singleElement().asString().contains("allkeys-lru");
    }
  }

  @Test
  void missingRightsAndReplicasAreProblems() {
    try (RedisServer server =
            RedisServer.setup().user("app", "pw", "~*", "+@all", "resetchannels").start();
        RedisStore store =
            RedisStore.connect(
                "redis://app:pw@" + server.host() + ":" + server.port() + "?waitReplicas=1")) {
      assertThat(of(store.diagnose(), Level.PROBLEM))
          .anyMatch(what -> what.contains("waitReplicas=1"))
          .anyMatch(what -> what.contains("may not SUBSCRIBE"))
          .anyMatch(what -> what.contains("may not PUBLISH"))
          .noneMatch(what -> what.contains("HSET"));
    }
  }

  @Test
  void aClusterIsExaminedNodeByNode() {
    try (RedisCluster cluster = RedisCluster.start(Flavour.REDIS);
        RedisStore store = RedisStore.connect(Urls.of(cluster))) {
      assertThat(of(store.diagnose(), Level.OK))
          .anyMatch(what -> what.contains("16384 of 16384 slots on 3 primaries"))
          .filteredOn(what -> what.contains("role master"))
          .hasSize(3);
    }
  }
}
