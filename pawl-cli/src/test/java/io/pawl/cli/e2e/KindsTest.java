package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KindsTest {

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

  private Started hold(String... how) {
    String[] args = new String[how.length + 4];
    args[0] = "run";
    System.arraycopy(how, 0, args, 1, how.length);
    args[how.length + 1] = "x";
    args[how.length + 2] = "-c";
    args[how.length + 3] = "echo ready; exec sleep 60";
    return shell.start(args).awaitOutput("ready");
  }

  private static void end(Started run) {
    run.process().destroy();
    run.exit();
  }

  @Test
  void readersRunTogetherAndAWriterAlone() {
    Started first = hold("--shared");
    Started second = hold("--shared");
    assertThat(shell.run("list").output()).containsPattern("(?s)x +shared .*x +shared ");
    assertThat(shell.run("run", "-n", "x", "--", "echo", "never").exit()).isEqualTo(75);
    Started writer = shell.start("run", "x", "-c", "echo ready; exec sleep 60");
    Awaitility.await()
        .atMost(Shell.LONG)
        .until(() -> shell.run("show", "x").output().contains("waiting"));
    Started late = shell.run("run", "--shared", "-n", "x", "--", "echo", "never");
    assertThat(late.exit()).isEqualTo(75);
    end(first);
    end(second);
    writer.awaitOutput("ready");
    assertThat(shell.run("run", "--shared", "-n", "x", "--", "true").exit()).isEqualTo(75);
    end(writer);
    assertThat(shell.run("run", "--shared", "-n", "x", "--", "true").exit()).isZero();
    assertThat(shell.run("run", "-n", "x", "--", "true").exit()).isZero();
  }

  @Test
  void asManyRunAsThereArePermits() {
    Started two = hold("--permits", "2/3");
    assertThat(shell.run("run", "-n", "--permits", "2/3", "x", "--", "true").exit()).isEqualTo(75);
    Started one = hold("--permits", "1/3");
    assertThat(shell.run("run", "-n", "--permits", "1/3", "x", "--", "true").exit()).isEqualTo(75);
    assertThat(shell.run("show", "x").output())
        .containsPattern("kind +semaphore")
        .containsPattern("(?s)held by.*held by");
    assertThat(shell.run("list").output()).contains("2/3").contains("1/3");
    end(two);
    Started again = shell.run("run", "-n", "--permits", "2/3", "x", "--", "echo", "in");
    assertThat(again.output()).isEqualTo("in\n");
    end(one);
  }

  @Test
  void aNameOfAnotherKindOrCapacityIsRefused() {
    assertThat(shell.run("run", "--permits", "1/3", "s", "--", "true").exit()).isZero();
    refused("'s' is a semaphore of 3 permits, ask with --permits K/3", "--permits", "1/2", "s");
    refused("'s' is a semaphore of 3 permits", "s");
    refused("'s' is a semaphore of 3 permits", "--shared", "s");
    assertThat(shell.run("run", "--shared", "l", "--", "true").exit()).isZero();
    refused("'l' is a lock, ask without --permits", "--permits", "1/3", "l");
    assertThat(shell.run("run", "l", "--", "true").exit()).isZero();
  }

  private void refused(String why, String... how) {
    String[] args = new String[how.length + 4];
    args[0] = "run";
    System.arraycopy(how, 0, args, 1, how.length);
    args[how.length + 1] = "--";
    args[how.length + 2] = "echo";
    args[how.length + 3] = "never";
    Started run = shell.run(args);
    assertThat(run.exit()).isEqualTo(78);
    assertThat(run.errors()).startsWith("pawl: ").contains(why).hasLineCount(1);
    assertThat(run.output()).isEmpty();
  }
}
