package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessTreeTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir Path processes;

  /** As that of a process which hangs in a file system that does not answer. */
  @Test
  void aCommandIsStoppedThoughAnEnvironmentCannotBeReadForNow() throws Exception {
    Process command = new ProcessBuilder("sleep", "600").start();
    Path stuck =
        Files.createDirectory(processes.resolve(Long.toString(ProcessHandle.current().pid())))
            .resolve("environ");
    assertThat(new ProcessBuilder("mkfifo", stuck.toString()).start().waitFor()).isZero();
    ProcessTree tree = new ProcessTree(command, new Marked("no-mark", processes));
    try {
      assertThat(CompletableFuture.runAsync(() -> tree.terminate(10_000))).succeedsWithin(LONG);

      assertThat(command.isAlive()).isFalse();
      assertThat(tree.kill()).isTrue();
    } finally {
      command.destroyForcibly();
      new ProcessBuilder("timeout", "1", "sh", "-c", ": >\"$1\"", "sh", stuck.toString())
          .start()
          .waitFor();
    }
  }

  /** As where no thread can be started that waits for it; a signal has just come. */
  @Test
  void aCommandThatRunsThoughItsStartHasFailedIsStoppedWithAllThatItHasStarted() throws Exception {
    String mark = "5eed1e55c0ffee00";
    Path said = processes.resolve("said");
    ProcessBuilder builder =
        new ProcessBuilder("sh", "-c", "setsid sleep 600 & echo $!; wait")
            .redirectOutput(said.toFile());
    builder.environment().put(ProcessTree.MARK_VARIABLE, mark);
    Set<ProcessHandle> others = ProcessTree.children();
    Process command = builder.start();
    await().atMost(LONG).until(() -> Files.size(said) > 0);
    String other = Files.readString(said).strip();
    Thread.currentThread().interrupt();
    try {
      assertThat(ProcessTree.ofFailedStart(others, mark).kill()).isTrue();

      assertThat(Thread.interrupted()).isTrue();
      assertThat(command.onExit()).succeedsWithin(LONG);
      ProcessStat stat = ProcessStat.of(other);
      assertThat(stat == null || stat.isZombie()).isTrue();
    } finally {
      command.destroyForcibly();
      ProcessHandle.of(Long.parseLong(other)).ifPresent(ProcessHandle::destroyForcibly);
    }
  }

  /** As of {@code sh -c 'server & exec pawl run …'}. */
  @Test
  void p4_onlyTheOwner_aFailedStartEndsNoChildThatWasThereBefore() throws Exception {
    Process server = new ProcessBuilder("sleep", "600").start();
    try {
      Set<ProcessHandle> others = ProcessTree.children();
      Process command = new ProcessBuilder("sleep", "600").start();
      try {
        assertThat(ProcessTree.ofFailedStart(others, "no-mark").kill()).isTrue();

        assertThat(command.onExit()).succeedsWithin(LONG);
        assertThat(server.isAlive()).isTrue();
      } finally {
        command.destroyForcibly();
      }
    } finally {
      server.destroyForcibly();
    }
  }
}
