package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
    assertThat(second.output()).isEqualTo("in\n");
    shell.signal("CONT", first.process().pid());
    assertThat(first.exit()).isEqualTo(76);
    assertThat(first.errors()).contains("lost").hasLineCount(1);
    await().atMost(Shell.LONG).until(() -> guards(pids).isEmpty());
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
