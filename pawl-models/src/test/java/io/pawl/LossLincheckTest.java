package io.pawl;

import io.pawl.Interleavings.TickingTime;
import io.pawl.engine.Engine;
import io.pawl.error.LeaseLostException;
import io.pawl.options.LockOptions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A model checker interleaves the use of a lease with the end of its time: a loss is told once, to
 * every callback, before the first answer that says so, and never after a close in time. A callback
 * may use the lock of which it is told.
 */
@Tag("lincheck")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
public class LossLincheckTest {

  private final TickingTime time = new TickingTime();
  private final Engine engine = Interleavings.engine(time);
  private final DistributedLock lock = new DistributedLock(engine, "lock", LockOptions.defaults());
  private final Set<Long> tokens = ConcurrentHashMap.newKeySet();

  @Operation
  public boolean use() {
    return taken().map(this::use).orElse(true);
  }

  private boolean use(Lease lease) {
    boolean unique = tokens.add(lease.token());
    AtomicInteger told = new AtomicInteger();
    lease.onLost(told::incrementAndGet);
    boolean valid = lease.isValid();
    boolean toldFirst = valid || told.get() == 1;
    boolean lost = isLostAtItsEnd(lease);
    return unique && toldFirst && (valid || lost) && told.get() == (lost ? 1 : 0);
  }

  @Operation
  public boolean callBack() {
    return taken().map(this::callBack).orElse(true);
  }

  private boolean callBack(Lease lease) {
    boolean unique = tokens.add(lease.token());
    AtomicInteger told = new AtomicInteger();
    lease.onLost(
        () -> {
          boolean invalid = !lease.isValid();
          lease.close();
          boolean taken = taken().map(this::closed).orElse(true);
          told.addAndGet(invalid && taken ? 1 : 100);
        });
    boolean valid = lease.isValid();
    boolean lost = isLostAtItsEnd(lease);
    return unique && (valid || lost) && told.get() == (lost ? 1 : 0);
  }

  @Operation
  public boolean addLate() {
    return taken().map(this::addLate).orElse(true);
  }

  private boolean addLate(Lease lease) {
    boolean unique = tokens.add(lease.token());
    boolean valid = lease.isValid();
    AtomicInteger told = new AtomicInteger();
    lease.onLost(told::incrementAndGet);
    boolean lost = isLostAtItsEnd(lease);
    return unique && (valid || lost) && told.get() == (lost ? 1 : 0);
  }

  @Operation
  public void endItsTime() {
    time.pass(LockOptions.defaults().lease().toNanos());
  }

  /** Empty where it would have to wait, since nothing happens later that would end the wait. */
  private Optional<Lease> taken() {
    CompletableFuture<Lease> future = lock.acquireAsync();
    return future.cancel(false) ? Optional.empty() : Optional.of(future.join());
  }

  private boolean closed(Lease lease) {
    boolean unique = tokens.add(lease.token());
    isLostAtItsEnd(lease);
    return unique;
  }

  private static boolean isLostAtItsEnd(Lease lease) {
    try {
      lease.close();
      return false;
    } catch (LeaseLostException e) {
      return true;
    }
  }

  @Test
  void noInterleavingWithTheEndOfItsTimeHidesALoss() {
    Interleavings.check(
        LossLincheckTest.class, "use endItsTime", "callBack endItsTime", "addLate endItsTime");
  }
}
