package io.pawl.cli.e2e;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.cli.e2e.Shell.Started;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoTest {

  @TempDir Path directory;

  @Test
  void theDemoHoldsAndItsBrokenTwinsDoNot() {
    Shell shell = new Shell(directory);
    Started demo = shell.run("demo");
    Started fence = shell.start("demo", "lock", "--break", "fence");
    Started counter = shell.start("demo", "sale", "--break", "counter");
    assertThat(demo.output())
        .doesNotContain("FAILED")
        .contains("All checks held: tokens only grew")
        .contains("kill -9 of process")
        .contains("buyers: 10 were told that they have a prize, 1990 that they have none")
        .contains("ledger: 10 sold, 0 left")
        .contains("All checks held: sold as often as there are prizes");
    assertThat(demo.exit()).isZero();
    assertThat(demo.errors()).isEmpty();
    assertThat(fence.exit()).isEqualTo(70);
    assertThat(fence.output()).contains("FAILED: the fence let token").doesNotContain("prizes");
    assertThat(counter.exit()).isEqualTo(70);
    assertThat(counter.output()).contains("FAILED: ").doesNotContain("fenced");
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP"})
  void neitherProcessNorFolderOutlivesADemoThatIsEnded(String signal) {
    Shell shell = new Shell(directory);
    Started demo = shell.start("demo", "lock");
    List<ProcessHandle> workers = new ArrayList<>();
    try {
      workers.addAll(workersOf(demo));
      Path folder = folderOf(workers.get(0));
      assertThat(folder).isDirectory();

      shell.signal(signal, demo.process().pid());

      demo.exit();
      await().atMost(Shell.LONG).until(() -> workers.stream().noneMatch(ProcessHandle::isAlive));
      assertThat(folder).doesNotExist();
    } finally {
      workers.forEach(ProcessHandle::destroyForcibly);
      shell.killAll();
    }
  }

  @Test
  void theWorkersOfADemoThatIsKilledEnd() {
    Shell shell = new Shell(directory);
    Started demo = shell.start("demo", "lock");
    List<ProcessHandle> workers = new ArrayList<>();
    try {
      workers.addAll(workersOf(demo));

      shell.signal("KILL", demo.process().pid());

      await()
          .atMost(Shell.LONG)
          .until(
              () -> {
                workers.removeIf(worker -> !worker.isAlive());
                // it may have stopped one, by a command that is still on its way
                workers.forEach(worker -> shell.signal("CONT", worker.pid()));
                return workers.isEmpty();
              });
    } finally {
      workers.forEach(ProcessHandle::destroyForcibly);
      shell.killAll();
    }
  }

  private static List<ProcessHandle> workersOf(Started demo) {
    return await()
        .atMost(Shell.LONG)
        .until(
            () -> demo.process().children().filter(DemoTest::isWorker).toList(),
            workers -> workers.size() == 4);
  }

  /** The demo's, in which its worker's is. */
  private static Path folderOf(ProcessHandle worker) {
    List<String> command = List.of(Shell.commandLine(worker.pid()).split("\0"));
    return Path.of(command.get(command.indexOf("demo-worker") + 1)).getParent();
  }

  private static boolean isWorker(ProcessHandle process) {
    return Shell.commandLine(process.pid()).contains("demo-worker");
  }
}
