package io.pawl;

import io.pawl.Interleavings.TickingTime;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A model checker interleaves requests and releases of one line in every way it can think of: two
 * never hold at once, tokens grow, and nobody sleeps for ever.
 */
@Tag("lincheck")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
public class LocalQueueLincheckTest {

  private final Engine engine = Interleavings.engine(new TickingTime());
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

  @Test
  void noInterleavingOfRequestsBreaksTheLine() {
    Interleavings.check(LocalQueueLincheckTest.class);
  }
}
