package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.Certificates;
import io.pawl.servers.ZooKeeperEnsemble;
import io.pawl.servers.ZooKeeperServer;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution as it is, on ZooKeeper. */
class ZooKeeperTest {

  private static final String PASSWORD = "canary";

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

  @Test
  void everyCommandServesAUserWithRightsAndThePasswordShowsNowhere() {
    try (ZooKeeperServer server = ZooKeeperServer.start()) {
      String right = "zk://app:" + PASSWORD + "@" + server.address() + "/team";
      new LockCommands(shell, right, PASSWORD).check();

      String wrong = right.replace(PASSWORD, "wrong");
      Started denied = shell.run(Map.of("PAWL_STORE", wrong), "run", "nightly", "--", "true");
      assertThat(denied.exit()).isEqualTo(77);
      assertThat(denied.errors()).startsWith("pawl: ").hasLineCount(1).doesNotContain("wrong");
    }
  }

  @Test
  void encryptedConnectionsNeedTheServersAuthority() {
    try (ZooKeeperServer server = ZooKeeperServer.startWithTls()) {
      String url = "zookeeper://" + server.secureAddress() + "?timeout=20s&tls=true";
      String trusted =
          url
              + "&trustStore="
              + server.certificates().trustStore()
              + "&trustStorePassword="
              + Certificates.STORE_PASSWORD;
      Started run = shell.run(Map.of("PAWL_STORE", trusted), "run", "x", "-c", "echo $PAWL_LOCK");
      assertThat(run.errors()).isEmpty();
      assertThat(run.output()).isEqualTo("x\n");
      Started refused = shell.run("run", "--store", url.replace("20s", "1s"), "x", "--", "true");
      assertThat(refused.errors()).startsWith("pawl: ").hasLineCount(1);
      assertThat(refused.exit()).isEqualTo(69);
    }
  }

  @Test
  void theDoctorNamesLeaderTransactionsSessionsAndTheMemberThatIsDown() {
    try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
      String url = "zk://app:" + PASSWORD + "@" + ensemble.addresses();
      Map<String, String> store = Map.of("PAWL_STORE", url);
      Started whole = shell.run(store, "doctor");
      assertThat(whole.output())
          .containsOnlyOnce(", leader")
          .contains(", follower")
          .contains("a transaction takes p50 ")
          .contains("no host is more than 1000 transactions behind")
          .contains("sessions outlast their lease by ")
          .containsPattern("leases of \\d+ to 36\\d+ ms are possible")
          .doesNotContain("problem ")
          .doesNotContain(PASSWORD);
      assertThat(whole.exit()).isZero();

      ZooKeeperServer down = ensemble.followers().get(0);
      String address = down.address();
      down.kill();
      Started degraded = shell.run(store, "doctor");
      assertThat(degraded.output().lines())
          .anyMatch(
              line -> line.contains(address + " does not answer") && line.contains("start it"));
      assertThat(shell.run(store, "run", "x", "-c", "exit 4").exit()).isEqualTo(4);
    }
  }

  @Test
  void aUrlThatCannotBeIsExplainedAndShowsNoPassword() {
    refused(78, "is not zk://", "zk:app:" + PASSWORD + "@host");
    refused(78, "a user without a password", "zk://" + PASSWORD + "@host");
    refused(78, "names no host", "zk://app:" + PASSWORD + "@/team");
    refused(78, "is no node", "zk://app:" + PASSWORD + "@host/..");
    refused(78, "tikc", "zk://app:" + PASSWORD + "@host/team?tikc=1s");
    refused(69, "127.0.0.1:1", "zk://app:" + PASSWORD + "@127.0.0.1:1");
  }

  private void refused(int exit, String why, String url) {
    for (String[] args : new String[][] {{"list"}, {"run", "x", "--", "true"}}) {
      Started run = shell.run(Map.of("PAWL_STORE", url), args);
      assertThat(run.errors()).startsWith("pawl: ").contains(why).hasLineCount(1);
      assertThat(run.output() + run.errors()).doesNotContain(PASSWORD);
      assertThat(run.exit()).isEqualTo(exit);
    }
    Started doctor = shell.run(Map.of("PAWL_STORE", url), "doctor");
    assertThat(doctor.output()).contains("problem ").contains(why).doesNotContain(PASSWORD);
    assertThat(doctor.exit()).isNotZero();
  }
}
