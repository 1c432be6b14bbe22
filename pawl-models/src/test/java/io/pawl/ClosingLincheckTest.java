package io.pawl;

import io.pawl.Interleavings.TickingTime;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A model checker interleaves the closing of a client with its locks: who asks is let in or turned
 * away, a holder is asked to come to an end once, closing ends after all bodies, and then nothing
 * is held.
 */
@Tag("lincheck")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
public class ClosingLincheckTest {

  private static final int LOOKS = 40;
  private static final long GRACE_NANOS = Duration.ofDays(1).toNanos();

  private final Engine engine = Interleavings.engine(new TickingTime());
  private final DistributedLock lock = new DistributedLock(engine, "lock", LockOptions.defaults());
  private final LockGroup group =
      new LockGroup(engine, List.of("lock", "more"), LockOptions.defaults());
  private final AtomicInteger inside = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();

  @Operation
  public boolean acquire() throws InterruptedException {
    Lease lease;
    try {
      lease = lock.acquire();
    } catch (IllegalStateException e) {
      return engine.lifecycle().isClosed();
    }
    return use(lease);
  }

  @Operation
  public boolean acquireLater() {
    Optional<Lease> lease;
    try {
      lease = lock.tryAcquireAsync(Duration.ofDays(1)).join();
    } catch (CompletionException | IllegalStateException e) {
      return engine.lifecycle().isClosed();
    }
    return use(lease.orElseThrow());
  }

  private boolean use(Lease lease) {
    boolean alone = inside.getAndIncrement() == 0;
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger lost = new AtomicInteger();
    lease.onClosing(asked::incrementAndGet);
    lease.onLost(lost::incrementAndGet);
    boolean open = goesOnWhileOpen();
    inside.decrementAndGet();
    lease.close();
    return alone && open && asked.get() <= 1 && lost.get() == 0;
  }

  /** A body that is long, beside what it takes to get in: here the client is to be closed. */
  private boolean goesOnWhileOpen() {
    boolean open = true;
    for (int look = 0; look < LOOKS; look++) {
      open &= !closed.get();
    }
    return open;
  }

  @Operation
  public boolean acquireGroup() throws InterruptedException {
    GroupLease lease;
    try {
      lease = group.acquire();
    } catch (IllegalStateException e) {
      return engine.lifecycle().isClosed();
    }
    boolean alone = inside.getAndIncrement() == 0;
    boolean open = goesOnWhileOpen();
    inside.decrementAndGet();
    lease.close();
    return alone && open;
  }

  @Operation
  public boolean close() {
    engine.lifecycle().beginClosing();
    engine.lifecycle().endClosing(GRACE_NANOS);
    closed.set(true);
    return inside.get() == 0 && engine.isIdle();
  }

  @Test
  void noInterleavingOfClosingLetsABodyOutliveItsClient() {
    Interleavings.check(
        ClosingLincheckTest.class, "acquire close", "acquireLater close", "acquireGroup close");
  }
}
