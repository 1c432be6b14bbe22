package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SignalsTest {

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

  @ParameterizedTest
  @CsvSource({"HUP,1", "INT,2", "USR1,10", "USR2,12", "TERM,15"})
  void aSignalReachesTheCommandOnce(String name, int number) {
    Started caught =
        shell.start(
            "run",
            "x",
            "-c",
            "trap 'echo got' "
                + name
                + "; trap 'exit 5' ALRM; echo $$ >>pids; echo ready;"
                + " while :; do sleep 0.02; done");
    caught.awaitOutput("ready");
    shell.signal(name, caught.process().pid());
    caught.awaitOutput("got");
    shell.signal("ALRM", shell.pids(1).get(0));
    assertThat(caught.exit()).isEqualTo(5);
    assertThat(caught.output()).isEqualTo("ready\ngot\n");
    assertThat(caught.errors()).isEmpty();

    Started plain = shell.start("run", "x", "--", "sh", "-c", "echo ready; exec sleep 60");
    plain.awaitOutput("ready");
    shell.signal(name, plain.process().pid());
    assertThat(plain.exit()).isEqualTo(128 + number);
  }

  @ParameterizedTest
  @ValueSource(strings = {"HUP", "INT", "USR1", "USR2", "TERM"})
  void aSignalThatWasIgnoredAtTheStartStaysIgnoredForTheCommandToo(String name) {
    shell
        .start("run", "x", "-c", "echo ready; until [ -e go ]; do sleep 0.02; done")
        .awaitOutput("ready");
    Started run =
        ignoring(
            name,
            "exec \"$0\" run x -c '"
                + "echo $$ >>pids; until [ -e end ]; do sleep 0.02; done; exit 5'");
    Awaitility.await()
        .atMost(Shell.LONG)
        .until(() -> shell.run("show", "x").output().contains("waiting"));
    shell.signal(name, run.process().pid());
    shell.create("go");
    long command = shell.pids(1).get(0);
    shell.signal(name, run.process().pid());
    shell.signal(name, command);
    shell.create("end");
    assertThat(run.exit()).isEqualTo(5);
    assertThat(run.output() + run.errors()).isEmpty();
  }

  @Test
  void quitPrintsAThreadDumpOnStandardErrorAndEndsNothing() {
    Started run =
        shell.start("run", "x", "-c", "echo ready; until [ -e end ]; do sleep 0.02; done; exit 5");
    run.awaitOutput("ready");
    shell.signal("QUIT", run.process().pid());
    Awaitility.await().atMost(Shell.LONG).until(() -> run.errors().contains("Full thread dump"));
    shell.create("end");
    assertThat(run.exit()).isEqualTo(5);
    assertThat(run.output()).isEqualTo("ready\n");
  }

  private Started ignoring(String signal, String script) {
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", "trap '' " + signal + "; " + script, Shell.LAUNCHER);
    return shell.launch(builder, Map.of());
  }

  @ParameterizedTest
  @CsvSource({"INT,2", "TERM,15"})
  void aSignalEndsTheWaitAndLeavesTheLine(String name, int number) {
    shell.start("run", "x", "-c", "echo ready; exec sleep 60").awaitOutput("ready");
    Started waiting = shell.start("run", "x", "--", "echo", "never");
    Awaitility.await()
        .atMost(Shell.LONG)
        .until(() -> shell.run("show", "x").output().contains("waiting"));
    shell.signal(name, waiting.process().pid());
    assertThat(waiting.exit()).isEqualTo(128 + number);
    assertThat(waiting.output() + waiting.errors()).isEmpty();
    assertThat(shell.run("show", "x").output()).doesNotContain("waiting");
  }
}
