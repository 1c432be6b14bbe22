package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.cli.e2e.Shell.Started;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The command and all that it has started are stopped before another can be let in. */
class LossTest {

  /** A child, a grandchild of another session, and an orphan; all but the first defy TERM. */
  private static final String FAMILY =
      "trap '' TERM; echo $$ >>pids; setsid sleep 300 & echo $! >>pids;"
          + " (setsid sh -c 'echo $$ >>pids; exec sleep 300' &); while :; do sleep 1; done";

  /** Says which of them the next holder still finds. */
  private static final String CENSUS =
      "for p in $(cat pids); do grep -s State /proc/$p/status | grep -v Z; done; echo in";

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

  private Started family(String... options) {
    List<String> args = new java.util.ArrayList<>(List.of("run", "x", "-c", FAMILY));
    args.addAll(1, List.of(options));
    Started first = shell.start(args.toArray(String[]::new));
    assertThat(shell.pids(3)).hasSize(3);
    return first;
  }

  private void awaitGuard(List<Long> family) {
    await().atMost(Shell.LONG).until(() -> !guards(family).isEmpty());
  }

  /** The guard names the command in its arguments. */
  private static List<ProcessHandle> guards(List<Long> family) {
    return Shell.processesWith("pawl-guard").stream()
        .filter(
            guard ->
                family.stream()
                    .anyMatch(pid -> Shell.commandLine(guard.pid()).contains("\0" + pid + "\0")))
        .toList();
  }

  @Test
  void killingPawlStopsTheCommandAndLetsTheNextInWithinTheLease() {
    Started first = family("--lease", "3s");
    List<Long> pids = shell.pids(3);
    awaitGuard(pids);
    long killedAt = System.nanoTime();
    shell.signal("KILL", first.process().pid());
    Started second = shell.run("run", "x", "-c", CENSUS);
    assertThat(second.output()).isEqualTo("in\n");
    assertThat(Duration.ofNanos(System.nanoTime() - killedAt)).isLessThan(Duration.ofSeconds(5));
    await().atMost(Shell.LONG).until(() -> guards(pids).isEmpty());
  }

  @Test
  void stoppingPawlForLongerThanItsLeaseStopsTheCommandInTime() {
    Started first = family("--lease", "3s");
    List<Long> pids = shell.pids(3);
    awaitGuard(pids);
    shell.signal("STOP", first.process().pid());
    Started second = shell.run("run", "x", "-c", CENSUS);
    if (second.exit() == 69) { // it was stopped within a renewal, which keeps the file locked
      assertThat(second.errors()).contains("locked");
      shell.signal("CONT", first.process().pid());
      second = shell.run("run", "x", "-c", CENSUS);
    }
    assertThat(second.output()).as(second.errors()).isEqualTo("in\n");
    shell.signal("CONT", first.process().pid());
    assertThat(first.exit()).isEqualTo(76);
    assertThat(first.errors()).contains("lost").hasLineCount(1);
    await().atMost(Shell.LONG).until(() -> guards(pids).isEmpty());
  }

  /** It dies by the guard's TERM, long before the lease is over: pawl goes on in between. */
  @Test
  void aCommandThatTheGuardHasStoppedCountsAsLost() {
    Started first =
        shell.start(
            "run",
            "--lease",
            "4s",
            "--kill-after",
            "2s",
            "x",
            "-c",
            "echo $$ >>pids; exec sleep 60");
    List<Long> pids = shell.pids(1);
    awaitGuard(pids);
    shell.signal("STOP", first.process().pid());
    await().atMost(Shell.LONG).until(() -> !Shell.isAlive(pids.get(0)));
    shell.signal("CONT", first.process().pid());
    assertThat(first.exit()).isEqualTo(76);
    assertThat(first.errors()).contains("lost").hasLineCount(1);
  }

  @Test
  void anEvictedCommandIsStoppedWithinARenewal() {
    Started first = family("--lease", "3s", "--kill-after", "300ms");
    assertThat(shell.run("release", "x", "--force").exit()).isZero();
    assertThat(first.exit()).isEqualTo(76);
    assertThat(first.errors()).contains("lease of lock 'x'").contains("lost").hasLineCount(1);
    assertThat(shell.pids(3)).noneMatch(Shell::isAlive);
  }

  @Test
  void anEvictedCommandGoesOnWhereThatWasAsked() {
    Started first =
        shell.start(
            "run",
            "--lease",
            "1s",
            "--on-lost",
            "warn",
            "x",
            "-c",
            "echo ready; while [ ! -e go ]; do sleep 0.05; done; echo done; exit 3");
    first.awaitOutput("ready");
    shell.run("release", "x", "--force");
    await().atMost(Shell.LONG).until(() -> first.errors().contains("goes on"));
    shell.create("go");
    assertThat(first.exit()).isEqualTo(3);
    assertThat(first.output()).endsWith("done\n");
    assertThat(first.errors()).hasLineCount(1);
  }

  /** A PATH with what a command, and its guard, need; but {@code missing}. */
  private Map<String, String> without(String missing) throws IOException {
    Path programs = Files.createDirectory(directory.resolve("programs"));
    for (String each : List.of("sh", "sleep", "timeout", "grep")) {
      if (!each.equals(missing)) {
        String call = "#!/bin/sh\nPATH='" + System.getenv("PATH") + "' exec " + each + " \"$@\"\n";
        Path program = Files.writeString(programs.resolve(each), call);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
      }
    }
    return Map.of("PATH", programs.toString(), "JAVA_HOME", System.getProperty("java.home"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"timeout", "grep"})
  void withoutAProgramThatTheGuardNeedsTheCommandGoesOnUnguarded(String missing) throws Exception {
    Map<String, String> path = without(missing);
    Started run = shell.run(path, "run", "x", "-c", "sleep 2; exit 3");
    assertThat(run.errors()).isEmpty();
    assertThat(run.exit()).isEqualTo(3);
    assertThat(shell.run(path, "doctor").output())
        .contains("a command goes on when its pawl is killed")
        .contains("on the PATH");
  }

  /** As where no more processes can be started for a moment. */
  @Test
  void aGuardThatCannotListenLeavesTheCommandAlone() throws IOException {
    Path programs = Files.createDirectory(directory.resolve("programs"));
    String script =
        String.join(
            "\n",
            "#!/bin/sh",
            "[ -e D/failed ] || { echo >D/failed; exit 125; }",
            "echo >D/again",
            "PATH='P' exec timeout \"$@\"");
    Path timeout =
        Files.writeString(
            programs.resolve("timeout"),
            script.replace("D", directory.toString()).replace("'P'", System.getenv("PATH")));
    Files.setPosixFilePermissions(timeout, PosixFilePermissions.fromString("rwxr-xr-x"));
    Started run =
        shell.run(
            Map.of("PATH", programs + ":" + System.getenv("PATH")),
            "run",
            "x",
            "-c",
            "until [ -e again ]; do sleep 0.02; done; exit 3");
    assertThat(run.exit()).isEqualTo(3);
    assertThat(run.errors()).isEmpty();
  }

  @Test
  void theGuardEndsWithTheCommandAndLeavesWhatItLeftBehind() {
    Started run =
        shell.start(
            "run",
            "x",
            "-c",
            "echo $$ >>pids; setsid sleep 300 >/dev/null 2>&1 & echo $! >>pids;"
                + " while [ ! -e go ]; do sleep 0.05; done");
    List<Long> pids = shell.pids(2);
    awaitGuard(pids);
    shell.create("go");
    assertThat(run.exit()).isZero();
    await().atMost(Shell.LONG).until(() -> guards(pids).isEmpty());
    assertThat(Shell.isAlive(pids.get(1))).isTrue();
    shell.signal("KILL", pids.get(1));
  }
}
