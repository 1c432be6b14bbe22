package io.pawl.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pawl.Lease;
import io.pawl.Pawl;
import io.pawl.cli.command.Failure;
import io.pawl.cli.command.Output;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command that does not start though its lock was taken. */
class UnstartedCommandTest {

  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration MIN_HOLD = Duration.ofHours(1);

  @TempDir Path directory;

  private final MemoryStore store = new MemoryStore();
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final Signals signals = new Signals(new Thread(() -> {}));

  private Run run(String command) {
    return run(command, null, LEASE, Duration.ofSeconds(5), store);
  }

  private Run run(
      String command,
      @Nullable Duration wait,
      Duration lease,
      Duration killAfter,
      LockStore opened) {
    RunOptions options =
        new RunOptions(
            "x",
            Mode.EXCLUSIVE,
            List.of(command),
            true,
            wait,
            false,
            lease,
            MIN_HOLD,
            Duration.ofDays(1),
            killAfter,
            OnLost.TERM,
            "",
            false);
    PrintStream terminal = new PrintStream(said, true, StandardCharsets.UTF_8);
    Output output = new Output(terminal, terminal);
    return new Run(options, () -> opened, Map.of(), output, System::nanoTime, signals);
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

  /** Renews nothing of the claim that asks first: an outage began with its grant. */
  private static final class Away extends WrappedStore implements Inspectable {

    private final MemoryStore store;
    private final AtomicReference<@Nullable ClaimId> unheard = new AtomicReference<>();
    private volatile boolean deniesEvictions;

    Away(MemoryStore store) {
      super(store);
      this.store = store;
    }

    @Override
    public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
      ClaimId asking = claims.iterator().next().id();
      unheard.compareAndSet(null, asking);
      return asking.equals(unheard.get())
          ? CompletableFuture.failedFuture(new StoreUnavailableException("is away", null))
          : super.renew(claims);
    }

    @Override
    public CompletionStage<List<LockView>> list(int limit) {
      return store.list(limit);
    }

    @Override
    public CompletionStage<Optional<LockView>> show(String lock) {
      return store.show(lock);
    }

    @Override
    public CompletionStage<Boolean> evict(String lock, long token) {
      return deniesEvictions
          ? CompletableFuture.failedFuture(new StoreDeniedException("may not evict"))
          : store.evict(lock, token);
    }

    @Override
    public CompletionStage<Boolean> setKind(String lock, Kind kind) {
      return store.setKind(lock, kind);
    }
  }

  /** {@code killAfter} is longer than any command line allows, so that the lease is renewed. */
  @Test
  void whoLosesItsLeaseBeforeTheCommandStartsIsNotKeptOutByItsOwnShortestHold() throws Exception {
    Duration lease = Duration.ofMillis(500);
    Run run = run("true", Duration.ZERO, lease, lease, new Away(store));
    try (Pawl pawl = Pawl.over(run.open())) {
      assertThat(run.acquire(pawl)).isPresent();
    }
  }

  @Test
  void aShortestHoldThatCannotBeEndedIsTold() throws Exception {
    Away away = new Away(store);
    away.deniesEvictions = true;
    signals.received("TERM", 15);
    try (Pawl pawl = Pawl.over(away)) {
      Run run = run("true", null, LEASE, Duration.ofSeconds(5), away);
      assertThat(run.runUnder(pawl, acquire(pawl))).isEqualTo(143);
    }
    await()
        .untilAsserted(
            () ->
                assertThat(said.toString(StandardCharsets.UTF_8))
                    .contains("stays busy until --min-hold is over", "may not evict"));
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
