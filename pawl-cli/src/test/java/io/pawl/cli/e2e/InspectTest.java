package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InspectTest {

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
  void aResultThatCannotBeWrittenIsNoSuccess() {
    Started list =
        shell.launch(
            new ProcessBuilder("sh", "-c", "exec \"$0\" list >/dev/full", Shell.LAUNCHER),
            Map.of());
    assertThat(list.exit()).isEqualTo(70);
    assertThat(list.errors()).startsWith("pawl: standard output").hasLineCount(1);
  }

  @Test
  void allHoldersLoseTheirLockThoughNobodyReadsOfIt() {
    for (int i = 0; i < 2; i++) {
      shell.start("run", "--shared", "x", "-c", "echo held.; sleep 60").awaitOutput("held.");
    }
    Started release =
        shell.launch(
            new ProcessBuilder("sh", "-c", "exec \"$0\" release --force x >&-", Shell.LAUNCHER),
            Map.of());

    assertThat(release.exit()).isEqualTo(70);
    assertThat(shell.run("show", "--json", "x").output()).contains("\"holders\":[]");
  }

  @Test
  void aHeldLockIsListedAndShownAndReleasedByItsTokenOnly() {
    assertThat(shell.run("list").output()).isEqualTo("No lock is held or waited for.\n");
    String earlier = shell.run("run", "x", "-c", "printf $PAWL_TOKEN").output();
    Started first =
        shell.start("run", "--holder", "night \"job\"", "x", "-c", "echo $PAWL_TOKEN.; sleep 60");
    String token = first.awaitOutput(".").output().replace(".\n", "");
    assertThat(shell.run("list").output())
        .contains("x     exclusive  " + token + " ")
        .contains("night \"job\" (")
        .contains("pid " + first.process().pid());
    assertThat(shell.run("list", "--json").output())
        .startsWith("{\"lock\":\"x\",\"kind\":\"lock\",\"state\":\"held\",\"lastToken\":")
        .contains("\"token\":" + token + ",")
        .contains("\"holder\":\"night \\\"job\\\"\"")
        .hasLineCount(1);
    assertThat(shell.run("show", "x").output()).contains("held by").contains("token " + token);

    Started wrong = shell.run("release", "x", "--token", earlier);
    assertThat(wrong.exit()).isEqualTo(76);
    assertThat(wrong.errors())
        .contains("not held under token " + earlier + "; nothing was released")
        .contains("token " + token);
    assertThat(shell.run("show", "--json", "x").output()).contains("\"state\":\"held\"");

    assertThat(shell.run("release", "x", "--token", token).output())
        .isEqualTo("released lock 'x', token " + token + "\n");
    assertThat(shell.run("show", "--json", "x").output())
        .startsWith("{\"lock\":\"x\",\"kind\":\"lock\",\"state\":\"free\",\"lastToken\":")
        .endsWith(",\"holders\":[],\"waiters\":[]}\n");
    assertThat(shell.run("release", "x", "--token", token).exit()).isEqualTo(76);
    assertThat(shell.run("release", "x", "--force").exit()).isZero();
  }

  /** What is open costs time at every start, a little for each of thousands of entries. */
  @Test
  void clientsOfOtherStoresStayClosed() {
    Started run = shell.run("run", "x", "-c", "ls -l /proc/$PPID/fd");
    assertThat(run.output())
        .contains("/pawl.jar")
        .doesNotContain("/servers.jar")
        .doesNotContain("/zookeeper.jar");
  }

  @Test
  void theDoctorFindsNothingToMend() {
    Started doctor = shell.run("doctor");
    assertThat(doctor.exit()).isZero();
    assertThat(doctor.output()).contains("ok ").doesNotContain("problem ");
    assertThat(shell.run("doctor", "--json").output().lines())
        .allMatch(line -> line.startsWith("{\"level\":\""));
  }

  @Test
  void helpManualAndCompletionComeFromTheSameDescription() {
    for (String command :
        new String[] {
          "run", "list", "show", "release", "counter", "purge", "tokens", "schema", "quorum",
          "doctor", "demo"
        }) {
      assertThat(shell.run("--help").output()).contains("  " + command + " ");
      assertThat(shell.run(command, "--help").output()).contains("pawl " + command);
    }
    assertThat(shell.run("help", "run").output()).contains("--kill-after");
    assertThat(shell.run("man").output()).startsWith(".TH PAWL 1").contains("\\-\\-kill\\-after");
    Started completion = shell.run("completion", "bash");
    assertThat(completion.output()).contains("--kill-after");
    Started loaded =
        shell.launch(
            new ProcessBuilder("bash", "-c", ". " + completion.out() + " && complete -p pawl"),
            Map.of());
    assertThat(loaded.exit()).isZero();
    assertThat(loaded.output()).contains("pawl");
  }
}
