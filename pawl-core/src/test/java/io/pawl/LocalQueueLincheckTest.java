package io.pawl;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.LocalQueue;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A model checker interleaves requests and releases of one line in every way it can think of: two
 * never hold at once, tokens grow, and nobody sleeps for ever.
 */
@Tag("lincheck")
public class LocalQueueLincheckTest {

  /** Lincheck transforms classes while it counts: on a busy machine its own 10 s are too few. */
  private static final long TIMEOUT_MILLIS = 120_000;

  private static final String[] BESIDE_THE_POINT = {
    "io.pawl.spi.rule.GrantRule",
    "io.pawl.spi.rule.LockState",
    "io.pawl.spi.LockName",
    "io.pawl.spi.Claim",
    "io.pawl.spi.ClaimId",
    "io.pawl.spi.Holder",
    "java.time.Duration"
  };

  private final Engine engine =
      new Engine(
          new MemoryStore(() -> 0),
          PawlOptions.defaults(),
          new TickingTime(),
          Workers.on(Runnable::run, Runnable::run),
          new Random(0),
          "client");
  private final DistributedLock lock = new DistributedLock(engine, "lock", LockOptions.defaults());
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicLong lastToken = new AtomicLong();

  @Operation
  public boolean acquire() throws InterruptedException {
    return useAndClose(lock.acquire());
  }

  @Operation
  public boolean tryAcquire() {
    return lock.tryAcquire().map(this::useAndClose).orElse(true);
  }

  @Operation
  public boolean cancel() {
    CompletableFuture<Optional<Lease>> future = lock.tryAcquireAsync(Duration.ofDays(1));
    return future.cancel(false) || future.join().map(this::useAndClose).orElse(false);
  }

  private boolean useAndClose(Lease lease) {
    boolean alone = inside.getAndIncrement() == 0;
    boolean grown = lastToken.getAndSet(lease.token()) < lease.token();
    inside.decrementAndGet();
    lease.close();
    return alone && grown;
  }

  /** Every look at the clock costs a fifth of a slice; nothing happens later. */
  private static final class TickingTime implements Time {
    private final AtomicLong nanos = new AtomicLong();

    @Override
    public long nanos() {
      return nanos.addAndGet(LocalQueue.SLICE_NANOS / 5);
    }

    @Override
    public Pending after(long delayNanos, Runnable task) {
      return () -> {};
    }
  }

  @Test
  void noInterleavingOfRequestsBreaksTheLine() {
    new ModelCheckingOptions()
        .threads(2)
        .actorsPerThread(1)
        .actorsBefore(0)
        .actorsAfter(0)
        .iterations(3)
        .invocationsPerIteration(50)
        .minimizeFailedScenario(false)
        .invocationTimeout$lincheck(TIMEOUT_MILLIS)
        .addGuarantee(forClasses(BESIDE_THE_POINT).allMethods().ignore())
        .check(LocalQueueLincheckTest.class);
  }
}
