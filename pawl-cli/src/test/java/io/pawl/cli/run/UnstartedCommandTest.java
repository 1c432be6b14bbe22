package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command that does not start though its lock was taken. */
class UnstartedCommandTest {

  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MIN_HOLD = Duration.ofHours(1);

  @TempDir Path directory;

  private final LockStore store = new MemoryStore();
  private final Signals signals = new Signals(new Thread(() -> {}));

  private Run run(String command) {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of(command),
            true,
            null,
            false,
            LEASE,
            MIN_HOLD,
            Duration.ofDays(1),
            Duration.ofSeconds(5),
            OnLost.TERM,
            "",
            false);
    PrintStream nowhere =
        new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
    Output output = new Output(nowhere, nowhere);
    return new Run(options, () -> store, Map.of(), output, System::nanoTime, signals);
  }

  private static Lease acquire(Pawl pawl) throws InterruptedException {
    LockOptions options = LockOptions.defaults().lease(LEASE).minHold(MIN_HOLD).strictOrder();
    return pawl.lock("x", options).acquire();
  }

  private boolean isFreeForOthers() throws InterruptedException {
    try (Pawl other = Pawl.over(store)) {
      return other
          .lock("x")
          .tryAcquire(Duration.ofSeconds(5))
          .map(UnstartedCommandTest::close)
          .isPresent();
    }
  }

  private static Lease close(Lease lease) {
    lease.close();
    return lease;
  }

  @Test
  void aHostThatCannotStartTheCommandKeepsNoOtherFromItForTheShortestHold() throws Exception {
    Path script = directory.resolve("job");
    Files.writeString(script, "#!/no/such/interpreter\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
    try (Pawl pawl = Pawl.over(store)) {
      Lease lease = acquire(pawl);
      assertThatThrownBy(() -> run(script.toString()).runUnder(pawl, lease))
          .isInstanceOf(Failure.class)
          .hasMessageContaining("cannot be executed");
    }
    assertThat(isFreeForOthers()).isTrue();
  }

  @Test
  void aSignalBeforeTheCommandStartsLeavesNoShortestHoldBehind() throws Exception {
    signals.received("TERM", 15);
    try (Pawl pawl = Pawl.over(store)) {
      assertThat(run("true").runUnder(pawl, acquire(pawl))).isEqualTo(143);
    }
    assertThat(isFreeForOthers()).isTrue();
  }

  @Test
  void aCommandThatRanLeavesItsShortestHoldBehind() throws Exception {
    try (Pawl pawl = Pawl.over(store)) {
      assertThat(run("true").runUnder(pawl, acquire(pawl))).isZero();
    }
    try (Pawl other = Pawl.over(store)) {
      assertThat(other.lock("x").tryAcquire()).isEmpty();
    }
  }
}
