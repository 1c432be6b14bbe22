package io.pawl.memory;

import io.pawl.error.NameInUseException;
import io.pawl.memory.Slots.Slot;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.CounterAnswer;
import io.pawl.spi.CounterRequest;
import io.pawl.spi.CounterStore;
import io.pawl.spi.CounterView;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LedgerEntry;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState.Grant;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The {@link GrantRule} and the {@link io.pawl.spi.rule.CounterRule} on maps, for tests and within
 * one process. Clients that share an instance exclude each other. The store forgets idle locks
 * except for the kinds of the last 10,000; the tokens of a lock that it does not know start above
 * all tokens that it ever forgot. It remembers the last 100,000 operations of a counter.
 *
 * <p>{@link #named} shares one store among clients that know only its name, as does the URL {@code
 * memory:name}.
 */
public final class MemoryStore implements LockStore, Inspectable, CounterStore {

  private static final NamedMemories named = new NamedMemories();

  private final String description;
  private final Runnable whenClosed;

  private final LongSupplier nanoClock;

  /** What to add to the clock for milliseconds since 1970; fixed, so that they never go back. */
  private final long epochOffset;

  private final LongSupplier wallMillis;

  private final ReentrantLock mutex;
  private final Slots slots;

  private final MemoryCounters counters;

  /** Makes a store on the system's clocks: locks have the monotonic one, counters the wall's. */
  public MemoryStore() {
    this(System::nanoTime, System::currentTimeMillis);
  }

  /**
   * @param nanoClock monotonic nanoseconds, for simulations
   */
  public MemoryStore(LongSupplier nanoClock) {
    this(nanoClock, epochOf(nanoClock));
  }

  /** The milliseconds since 1970 that have passed by {@code nanoClock}, now being now. */
  private static LongSupplier epochOf(LongSupplier nanoClock) {
    long offset = System.currentTimeMillis() - nanoClock.getAsLong() / 1_000_000;
    return () -> nanoClock.getAsLong() / 1_000_000 + offset;
  }

  private MemoryStore(LongSupplier nanoClock, LongSupplier wallMillis) {
    this.wallMillis = wallMillis;
    this.description = "memory";
    this.whenClosed = () -> {};
    this.nanoClock = nanoClock;
    this.epochOffset = System.currentTimeMillis() - now();
    this.mutex = new ReentrantLock();
    this.slots = new Slots();
    this.counters = new MemoryCounters();
  }

  /** Makes another store object over the contents of {@code shared}. */
  MemoryStore(MemoryStore shared, String name, Runnable whenClosed) {
    this.description = "memory:" + name;
    this.whenClosed = whenClosed;
    this.nanoClock = shared.nanoClock;
    this.epochOffset = shared.epochOffset;
    this.wallMillis = shared.wallMillis;
    this.mutex = shared.mutex;
    this.slots = shared.slots;
    this.counters = shared.counters;
  }

  /**
   * Returns the store of this {@code name} in this JVM. The first call makes it; it is forgotten
   * with its contents when every store object that this method returned has been closed and no hold
   * is left in it to run out.
   *
   * @param name 1 to 200 letters, digits, dots, hyphens and underscores
   * @throws IllegalArgumentException for any other name
   */
  public static MemoryStore named(String name) {
    return named.open(name);
  }

  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    return decide(
        claim.lock(),
        slot -> {
          refuseNameOfACounter(claim.lock());
          Standing standing = GrantRule.attempt(slot.state(), claim, now());
          if (standing instanceof Standing.Waiting) {
            slot.bells().put(claim.id(), bell);
          }
          return standing;
        });
  }

  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> claims) {
    Map<ClaimId, Standing> standings = new HashMap<>();
    for (Claim claim : claims) {
      decide(
          claim.lock(),
          slot -> standings.put(claim.id(), GrantRule.renew(slot.state(), claim.id(), now())));
    }
    return CompletableFuture.completedFuture(standings);
  }

  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    return decide(
        claim.lock(),
        slot -> {
          if (!counters.has(claim.lock())) { // where no attempt is ever granted
            GrantRule.withdraw(slot.state(), claim, now());
          }
          return null;
        });
  }

  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return decide(lock, slot -> GrantRule.evict(slot.state(), token, now()));
  }

  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return decide(
        lock,
        slot -> {
          refuseNameOfACounter(lock);
          return GrantRule.setKind(slot.state(), kind, now());
        });
  }

  private void refuseNameOfACounter(String lock) {
    if (counters.has(lock)) {
      throw NameInUseException.byCounter(lock);
    }
  }

  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    List<LockView> views = new ArrayList<>();
    List<Runnable> rings = new ArrayList<>();
    mutex.lock();
    try {
      for (Slot slot : slots.byName()) {
        GrantRule.settle(slot.state(), now());
        if (views.size() < limit && slot.isWanted()) {
          views.add(view(slot));
        }
        tidy(slot, rings);
      }
    } finally {
      mutex.unlock();
    }
    rings.forEach(Runnable::run);
    return CompletableFuture.completedFuture(views);
  }

  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return decide(
        lock,
        slot -> {
          GrantRule.settle(slot.state(), now());
          return slot.state().kind() == null ? Optional.empty() : Optional.of(view(slot));
        });
  }

  private LockView view(Slot slot) {
    return slot.state().view(epochOffset);
  }

  /** Now and then another lock is looked at: nobody may ask for it when it runs out. */
  private <T> CompletionStage<T> decide(String lock, Function<Slot, T> verb) {
    T answer;
    List<Runnable> rings = new ArrayList<>();
    mutex.lock();
    try {
      Slot slot = slots.of(lock);
      try {
        answer = verb.apply(slot);
      } finally {
        tidy(slot, rings);
        sweepNext(rings);
      }
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      mutex.unlock();
      rings.forEach(Runnable::run); // of another lock's too, where this one fails
    }
    return CompletableFuture.completedFuture(answer);
  }

  private void sweepNext(List<Runnable> rings) {
    Slot next = slots.next();
    if (next != null) {
      GrantRule.settle(next.state(), now());
      tidy(next, rings);
    }
  }

  private void tidy(Slot slot, List<Runnable> rings) {
    collectRings(slot, rings);
    if (slot.state().isIdle()) {
      slots.rest(slot);
    } else {
      slot.measure();
    }
  }

  private static void collectRings(Slot slot, List<Runnable> rings) {
    for (Grant granted : slot.state().takeGrants()) {
      Bell bell = slot.bells().remove(granted.id());
      if (bell != null) {
        rings.add(() -> bell.ring(granted.held()));
      }
    }
    if (slot.bells().size() > slot.state().waiters().size()) {
      slot.bells().keySet().removeIf(id -> !slot.state().isWaiting(id));
    }
  }

  @Override
  public CompletionStage<CounterAnswer> apply(CounterRequest request) {
    return count(
        () -> {
          for (String name : request.operations().keySet()) {
            if (slots.knows(name)) {
              throw NameInUseException.byLock(name);
            }
          }
          return counters.apply(request, epochNow());
        });
  }

  @Override
  public CompletionStage<Optional<CounterView>> read(String counter) {
    return count(() -> counters.read(counter, epochNow()));
  }

  @Override
  public CompletionStage<List<LedgerEntry>> history(String counter, int limit) {
    return count(() -> counters.history(counter, limit, epochNow()));
  }

  @Override
  public CompletionStage<List<CounterView>> list(String after, int limit) {
    return count(() -> counters.list(after, limit));
  }

  @Override
  public CompletionStage<Long> prune(String counter, Instant before) {
    return count(() -> counters.prune(counter, before.toEpochMilli(), epochNow()));
  }

  private <T> CompletionStage<T> count(Supplier<T> verb) {
    mutex.lock();
    try {
      return CompletableFuture.completedFuture(verb.get());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      mutex.unlock();
    }
  }

  /** How many locks it keeps, idle ones aside. */
  int size() {
    mutex.lock();
    try {
      return slots.size();
    } finally {
      mutex.unlock();
    }
  }

  private long now() {
    return nanoClock.getAsLong() / 1_000_000;
  }

  /** Counters compare it with the times of ids, which are the wall clock's. */
  private long epochNow() {
    return wallMillis.getAsLong();
  }

  @Override
  public String describe() {
    return description;
  }

  /**
   * Gives up a {@linkplain #named named} store. Otherwise there is nothing to close: held locks
   * stay held for other clients of this instance.
   */
  @Override
  public void close() {
    whenClosed.run();
  }
}
