package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.RedisServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution as it is, on a quorum of two Redis and a file. */
class QuorumTest {

  @TempDir Path directory;
  private Shell shell;

  @BeforeEach
  void setUp() {
    shell = new Shell(directory);
  }

  @AfterEach
  void tearDown() {
    shell.killAll();
  }

  private Started run(Map<String, String> store, String... args) {
    return shell.run(store, args);
  }

  @Test
  void aNewQuorumIsInitializedAndServesEveryCommandOfLocks() {
    try (RedisServer one = RedisServer.start();
        RedisServer other = RedisServer.start()) {
      String file = "sqlite:" + directory.resolve("node.db");
      Map<String, String> store =
          Map.of("PAWL_STORE", "quorum:" + one.url() + "|" + other.url() + "|" + file);
      Started fresh = run(store, "run", "-n", "nightly", "--", "true");
      assertThat(fresh.errors()).startsWith("pawl: ").hasLineCount(1).contains("votes");
      assertThat(fresh.exit()).isEqualTo(69);
      assertThat(run(store, "doctor").output()).contains("problem  0 of 3 nodes vote");

      assertThat(run(store, "quorum", "init").output()).startsWith("all nodes vote: store quorum:");

      Started job = shell.start(store, "run", "nightly", "-c", "echo $PAWL_TOKEN.; exec sleep 60");
      String token = job.awaitOutput(".").output().replace(".\n", "");
      assertThat(run(store, "run", "-n", "nightly", "--", "true").exit()).isEqualTo(75);
      assertThat(run(store, "list").output()).contains("nightly  exclusive  " + token + " ");
      assertThat(run(store, "show", "nightly").output()).contains("token " + token);
      other.kill();
      Started doctor = run(store, "doctor");
      assertThat(doctor.output()).contains("2 of 3 nodes vote", "node 2", "does not answer");
      assertThat(run(store, "release", "nightly", "--token", token).output())
          .isEqualTo("released lock 'nightly', token " + token + "\n");
      Started next = run(store, "run", "-n", "nightly", "-c", "echo $PAWL_TOKEN");
      assertThat(Long.parseLong(next.output().strip())).isGreaterThan(Long.parseLong(token));
    }
  }

  @Test
  void onlyAQuorumIsInitialized() {
    String file = "sqlite:" + directory.resolve("alone.db");
    Started refused = shell.run("quorum", "init", "--store", file);
    assertThat(refused.errors()).contains("is no quorum").hasLineCount(1);
    assertThat(refused.exit()).isEqualTo(78);
    assertThat(shell.run("quorum", "destroy", "--store", file).exit()).isEqualTo(64);
  }
}
