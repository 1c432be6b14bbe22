package io.pawl;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Workers;
import io.pawl.engine.Engine;
import io.pawl.engine.LocalQueue;
import io.pawl.memory.MemoryStore;
import io.pawl.options.LockOptions;
import io.pawl.options.PawlOptions;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A model checker interleaves requests and releases of readers, writers and holders of permits: who
 * may not hold beside another never does, tokens are unique, and nobody sleeps for ever.
 */
@Tag("lincheck")
public class KindsLincheckTest {

  /** Lincheck transforms classes while it counts: on a busy machine its own 10 s are too few. */
  private static final long TIMEOUT_MILLIS = 120_000;

  private static final String[] BESIDE_THE_POINT = {
    "io.pawl.spi.rule.GrantRule",
    "io.pawl.spi.rule.LockState",
    "io.pawl.spi.LockName",
    "io.pawl.spi.Claim",
    "io.pawl.spi.ClaimId",
    "io.pawl.spi.Holder",
    "io.pawl.spi.Kind",
    "io.pawl.spi.Mode",
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
  private final DistributedReadWriteLock lock =
      new DistributedReadWriteLock(engine, "lock", LockOptions.defaults(), new ReentrantHolds());
  private final DistributedSemaphore permits =
      new DistributedSemaphore(engine, "permits", 2, LockOptions.defaults());
  private final AtomicInteger writers = new AtomicInteger();
  private final AtomicInteger readers = new AtomicInteger();
  private final AtomicInteger taken = new AtomicInteger();
  private final Set<Long> tokens = ConcurrentHashMap.newKeySet();

  @Operation
  public boolean write() throws InterruptedException {
    Lease lease = lock.writeLock().acquire();
    boolean alone = writers.getAndIncrement() == 0 && readers.get() == 0;
    writers.decrementAndGet();
    return close(lease) && alone;
  }

  @Operation
  public boolean read() throws InterruptedException {
    Lease lease = lock.readLock().acquire();
    readers.incrementAndGet();
    boolean noWriter = writers.get() == 0;
    readers.decrementAndGet();
    return close(lease) && noWriter;
  }

  @Operation
  public boolean downgrade() throws InterruptedException {
    Lease lease = lock.writeLock().acquire();
    boolean alone = writers.getAndIncrement() == 0 && readers.getAndIncrement() == 0;
    writers.decrementAndGet();
    lease.downgrade();
    boolean noWriter = writers.get() == 0;
    readers.decrementAndGet();
    return close(lease) && alone && noWriter;
  }

  @Operation
  public boolean takeOne() throws InterruptedException {
    return use(permits.acquire(1), 1);
  }

  @Operation
  public boolean takeBoth() throws InterruptedException {
    return use(permits.acquire(2), 2);
  }

  @Operation
  public boolean tryToTakeOne() {
    return permits.tryAcquire(1).map(lease -> use(lease, 1)).orElse(true);
  }

  private boolean use(Lease lease, int wanted) {
    boolean enough = taken.addAndGet(wanted) <= 2;
    taken.addAndGet(-wanted);
    return close(lease) && enough;
  }

  private boolean close(Lease lease) {
    boolean unique = tokens.add(lease.lock().hashCode() * 1_000_000L + lease.token());
    lease.close();
    return unique;
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
  void noInterleavingOfRequestsLetsTheWrongOnesInTogether() {
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
        .check(KindsLincheckTest.class);
  }
}
