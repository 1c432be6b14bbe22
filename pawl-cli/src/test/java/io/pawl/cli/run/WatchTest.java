package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.io.OutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A watch that fails itself. */
class WatchTest {

  private static final Duration LEASE = Duration.ofSeconds(2);

  /** Standard error of a JVM that has no memory left. */
  private static Output failing() {
    PrintStream stream =
        new PrintStream(OutputStream.nullOutputStream()) {
          @Override
          public void write(byte[] bytes, int from, int length) {
            throw new OutOfMemoryError("says the test");
          }
        };
    return new Output(stream, stream);
  }

  @Test
  void aCommandIsStoppedThoughItsWatchFailsWithAnError() throws Exception {
    List<String> command = List.of("/bin/sh", "-c", "exec sleep 600");
    RunOptions options =
        new RunOptions(
            "watched",
            Mode.EXCLUSIVE,
            command,
            false,
            null,
            false,
            LEASE,
            Duration.ZERO,
            Duration.ofDays(1),
            Duration.ofMillis(100),
            OnLost.TERM,
            "",
            false);
    Process child = new ProcessBuilder(command).start();
    try (Pawl pawl = Pawl.connect("memory:");
        Lease lease =
            pawl.lock("watched", LockOptions.defaults().lease(LEASE).renewal(false)).acquire()) {
      Watch watch = new Watch(options, lease, new RunReport(failing(), false), child, "no-mark");
      watch.start();

      assertThat(child.waitFor(20, TimeUnit.SECONDS)).isTrue();

      assertThat(watch.end(child.exitValue())).isEqualTo(Watch.Verdict.FAILED);
      lease.closeAsync();
    } finally {
      child.destroyForcibly();
    }
  }
}
