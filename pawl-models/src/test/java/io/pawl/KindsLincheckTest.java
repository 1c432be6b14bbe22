package io.pawl;

import io.pawl.Interleavings.TickingTime;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A model checker interleaves requests and releases of readers, writers and holders of permits: who
 * may not hold beside another never does, tokens are unique, and nobody sleeps for ever.
 */
@Tag("lincheck")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
public class KindsLincheckTest {

  private final Engine engine = Interleavings.engine(new TickingTime());
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

  @Test
  void noInterleavingOfRequestsLetsTheWrongOnesInTogether() {
    Interleavings.check(KindsLincheckTest.class);
  }
}
