package io.pawl.cli.e2e;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import io.pawl.servers.EtcdCluster;
import io.pawl.servers.EtcdServer;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The distribution as it is, on etcd. */
class EtcdTest {

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

  /** The user's rights end with the prefix of its namespace. */
  private static void protect(EtcdServer server) {
    for (String user : new String[] {"root", "app"}) {
      String password = user.equals("app") ? PASSWORD : "r";
      server.post(
          "/v3/auth/user/add", "{\"name\":\"" + user + "\",\"password\":\"" + password + "\"}");
      server.post("/v3/auth/role/add", "{\"name\":\"" + user + "\"}");
      server.post("/v3/auth/user/grant", "{\"user\":\"" + user + "\",\"role\":\"" + user + "\"}");
    }
    server.post(
        "/v3/auth/role/grant",
        "{\"name\":\"app\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\""
            + base64("team/")
            + "\",\"range_end\":\""
            + base64("team0")
            + "\"}}");
    server.post("/v3/auth/enable", "{}");
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
  }

  private static String url(EtcdServer server, String password) {
    return "etcd://app:" + password + "@" + server.host() + ":" + server.port() + "/team";
  }

  @Test
  void everyCommandServesAUserWithRightsAndThePasswordShowsNowhere() {
    try (EtcdServer server = EtcdServer.start()) {
      protect(server);
      new LockCommands(shell, url(server, PASSWORD), PASSWORD).check();

      Started denied =
          shell.run(Map.of("PAWL_STORE", url(server, "wrong")), "run", "nightly", "--", "true");
      assertThat(denied.exit()).isEqualTo(77);
      assertThat(denied.errors()).startsWith("pawl: ").hasLineCount(1).doesNotContain("wrong");
    }
  }

  @Test
  void encryptedConnectionsNeedTheServersAuthority() {
    try (EtcdServer server = EtcdServer.startWithTls()) {
      String url = "etcds://" + server.host() + ":" + server.port();
      String trusted = url + "?timeout=20s&trustPem=" + server.certificates().certificatePem();
      Started through = shell.run("run", "--store", trusted, "x", "-c", "echo in");
      assertThat(through.errors()).isEmpty();
      assertThat(through.output()).isEqualTo("in\n");
      Started refused = shell.run("run", "--store", url, "x", "--", "true");
      assertThat(refused.errors()).contains("trustPem").hasLineCount(1);
      assertThat(refused.exit()).isEqualTo(78);
    }
  }

  @Test
  void theDoctorNamesLeaderQuorumAlarmsAndTheMemberThatIsDown() {
    try (EtcdCluster cluster = EtcdCluster.start()) {
      String store = "etcd://" + cluster.addresses();
      Started whole = shell.run("doctor", "--store", store);
      assertThat(whole.output())
          .containsOnlyOnce(", the leader")
          .contains("3 voting members, of which 2 have to be up")
          .contains("no member is more than 1000 entries of the log behind")
          .contains("no alarm")
          .contains("the shortest lease")
          .doesNotContain("warning ")
          .doesNotContain("problem ");
      assertThat(whole.exit()).isZero();

      EtcdServer down =
          cluster.members().stream().filter(member -> !member.leads()).findFirst().orElseThrow();
      String address = down.host() + ":" + down.port();
      down.kill();
      Started degraded = shell.run("doctor", "--store", store);
      assertThat(degraded.output().lines())
          .filteredOn(line -> line.startsWith("problem "))
          .hasSize(1)
          .allMatch(line -> line.contains(address) && line.contains("start it"));
      assertThat(degraded.exit()).isEqualTo(78);
      assertThat(shell.run("run", "--store", store, "x", "-c", "exit 4").exit()).isEqualTo(4);
    }
  }

  @Test
  void aUrlThatCannotBeIsExplainedAndShowsNoPassword() {
    refused(78, "is not etcd://", "etcd:app:" + PASSWORD + "@host");
    refused(78, "a user without a password", "etcd://" + PASSWORD + "@host");
    refused(78, "names no host", "etcd://app:" + PASSWORD + "@/team");
    refused(78, "none of the words of the namespace", "etcd://app:" + PASSWORD + "@host/claim");
    refused(78, "timeuot", "etcd://app:" + PASSWORD + "@host/team?timeuot=1s");
    refused(69, "cannot be reached", "etcd://app:" + PASSWORD + "@127.0.0.1:1");
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
