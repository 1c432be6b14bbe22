package io.pawl.cli.run;

import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Signals that come between the grant and the command's start. */
class StartSignalsTest {

  private static final Duration LONG = Duration.ofSeconds(20);

  @TempDir Path directory;

  @Test
  void eachSignalThatComesWhileTheCommandStartsReachesIt() throws Exception {
    Signals signals = new Signals(new Thread(() -> {}));
    signals.received("TERM", 15);
    signals.received("USR1", 10);
    Path said = directory.resolve("said");
    String script =
        "trap 'echo term' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.02; done";
    Process command = new ProcessBuilder("sh", "-c", script).redirectOutput(said.toFile()).start();
    try {
      await().atMost(LONG).until(() -> Files.readString(said).equals("ready\n"));
      signals.forwardTo(command);

      await()
          .atMost(LONG)
          .until(() -> Files.readAllLines(said).containsAll(List.of("term", "usr1")));
    } finally {
      command.destroyForcibly();
    }
  }
}
