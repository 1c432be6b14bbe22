package io.pawl;

import io.pawl.Interleavings.TickingTime;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import java.util.List;
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
 * A model checker interleaves groups that overlap, and locks that are part of them: no lock has two
 * holders, tokens are unique, and groups do not wait for each other for ever.
 */
@Tag("lincheck")
@Timeout(value = 20, unit = TimeUnit.MINUTES)
public class GroupsLincheckTest {

  private final Engine engine = Interleavings.engine(new TickingTime());
  private final DistributedLock a = new DistributedLock(engine, "a", LockOptions.defaults());
  private final DistributedLock b = new DistributedLock(engine, "b", LockOptions.defaults());
  private final LockGroup both = new LockGroup(engine, List.of("b", "a"), LockOptions.defaults());
  private final AtomicInteger insideA = new AtomicInteger();
  private final AtomicInteger insideB = new AtomicInteger();
  private final Set<String> tokens = ConcurrentHashMap.newKeySet();

  @Operation
  public boolean acquireBoth() throws InterruptedException {
    return use(both.acquire());
  }

  @Operation
  public boolean tryBoth() {
    return both.tryAcquire().map(this::use).orElse(true);
  }

  @Operation
  public boolean cancelBoth() {
    CompletableFuture<GroupLease> future = both.acquireAsync();
    return future.cancel(false) || use(future.join());
  }

  @Operation
  public boolean acquireA() throws InterruptedException {
    return use(a.acquire(), insideA);
  }

  @Operation
  public boolean acquireB() throws InterruptedException {
    return use(b.acquire(), insideB);
  }

  private boolean use(GroupLease lease) {
    boolean alone = insideA.getAndIncrement() == 0 & insideB.getAndIncrement() == 0;
    insideA.decrementAndGet();
    insideB.decrementAndGet();
    boolean unique = tokens.add("a" + lease.token("a")) & tokens.add("b" + lease.token("b"));
    lease.close();
    return alone && unique;
  }

  private boolean use(Lease lease, AtomicInteger inside) {
    boolean alone = inside.getAndIncrement() == 0;
    inside.decrementAndGet();
    boolean unique = tokens.add(lease.lock() + lease.token());
    lease.close();
    return alone && unique;
  }

  @Test
  void noInterleavingOfGroupsLetsTwoInOrLocksThemForEver() {
    Interleavings.check(
        GroupsLincheckTest.class,
        "acquireBoth acquireBoth",
        "tryBoth acquireB",
        "cancelBoth acquireA");
  }
}
