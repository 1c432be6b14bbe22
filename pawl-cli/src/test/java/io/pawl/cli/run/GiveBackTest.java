package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Output;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Mode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A lease that is given back when its command has ended. */
class GiveBackTest {

  private static final Duration LEASE = Duration.ofMillis(100);

  private final ByteArrayOutputStream said = new ByteArrayOutputStream();

  private Run run() {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of("true"),
            false,
            null,
            false,
            LEASE,
            Duration.ZERO,
            Duration.ofDays(1),
            Duration.ZERO,
            OnLost.WARN,
            "",
            false);
    PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
    Output output = new Output(stream, stream);
    return new Run(
        options,
        MemoryStore::new,
        Map.of(),
        output,
        System::nanoTime,
        new Signals(Thread.currentThread()));
  }

  /** As where pawl stood still until the command had ended: nobody could warn before. */
  @Test
  void aLossThatIsFoundOutAfterTheEndIsToldWhereTheCommandWasToGoOnToo() throws Exception {
    try (Pawl pawl = Pawl.connect("memory:")) {
      LockOptions options = LockOptions.defaults().lease(LEASE).renewal(false);
      Lease lease = pawl.lock("x", options).acquire();
      CompletableFuture<Void> lost = new CompletableFuture<>();
      lease.onLost(() -> lost.complete(null));
      assertThat(lost).succeedsWithin(Duration.ofSeconds(20));

      assertThat(run().giveBack(lease, 3, false)).isEqualTo(3);

      await()
          .untilAsserted(
              () ->
                  assertThat(said.toString(StandardCharsets.UTF_8))
                      .contains("was lost while the command ran")
                      .hasLineCount(1));
    }
  }
}
