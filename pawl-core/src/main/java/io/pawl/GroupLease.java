package io.pawl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Several locks held together, each with a token of its own. It belongs to whoever has this object,
 * not to a thread. When one of the locks is lost, all of it counts as lost; the others stay held
 * until it is closed.
 *
 * <p>Thread-safe.
 */
public final class GroupLease implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(GroupLease.class);

  private final Engine engine;
  private final List<Lease> leases;
  private final Map<String, Long> tokens;
  private final ReentrantLock mutex = new ReentrantLock();

  /** Open once whoever found the loss has told everybody. */
  private final CountDownLatch told = new CountDownLatch(1);

  private List<Runnable> callbacks = new ArrayList<>();
  private volatile @Nullable Thread teller;
  private volatile boolean closed;

  GroupLease(Engine engine, List<Lease> leases) {
    this.engine = engine;
    this.leases = leases;
    TreeMap<String, Long> byName = new TreeMap<>();
    leases.forEach(lease -> byName.put(lease.lock(), lease.token()));
    this.tokens = Collections.unmodifiableMap(byName);
    leases.forEach(lease -> lease.onLost(this::tellOfLoss));
  }

  /** The fencing tokens by the names of the locks, in the order of names. */
  public Map<String, Long> tokens() {
    return tokens;
  }

  /**
   * The fencing token of one lock, see {@link Lease#token}.
   *
   * @throws IllegalArgumentException for a name that is none of the group's
   */
  public long token(String lock) {
    Long token = tokens.get(lock);
    if (token == null) {
      throw new IllegalArgumentException(
          "lock '" + lock + "' is not of this group; it has " + tokens.keySet());
    }
    return token;
  }

  /** Its parts, in the order of names. */
  List<Lease> leases() {
    return leases;
  }

  /**
   * Whether all locks can be trusted now, see {@link Lease#isValid}. Asks the clock, never the
   * store. The first call that finds a loss returns after the {@link #onLost} callbacks have run.
   */
  public boolean isValid() {
    if (closed) {
      return false;
    }
    for (Lease lease : leases) {
      if (!lease.isValid()) {
        awaitTelling();
        return false;
      }
    }
    return true;
  }

  /** How long all locks stay valid if no renewal succeeds from now on; zero when it has ended. */
  public Duration remaining() {
    return leases.stream().map(Lease::remaining).min(Duration::compareTo).orElse(Duration.ZERO);
  }

  /**
   * Returns while {@link #isValid}.
   *
   * @throws LeaseLostException when one of the locks was lost; it names the first
   * @throws IllegalStateException when it was closed
   */
  public void ensureValid() {
    if (closed) {
      throw new IllegalStateException("lease of locks " + tokens.keySet() + " has been closed");
    }
    try {
      leases.forEach(Lease::ensureValid);
    } catch (LeaseLostException e) {
      awaitTelling();
      throw e;
    }
  }

  /**
   * Calls {@code callback} once when the first of the locks is lost, see {@link Lease#onLost}; at
   * once if one is lost already; never after a close in time.
   */
  public void onLost(Runnable callback) {
    mutex.lock();
    try {
      if (teller == null) {
        callbacks.add(callback);
        return;
      }
    } finally {
      mutex.unlock();
    }
    callback.run();
  }

  private void tellOfLoss() {
    List<Runnable> toCall;
    mutex.lock();
    try {
      if (teller != null) {
        return;
      }
      teller = Thread.currentThread();
      toCall = callbacks;
      callbacks = List.of();
    } finally {
      mutex.unlock();
    }
    for (Runnable callback : toCall) {
      try {
        callback.run();
      } catch (RuntimeException | Error e) {
        log.error("an onLost callback of locks {} failed", tokens.keySet(), e);
      }
    }
    told.countDown();
  }

  private void awaitTelling() {
    Thread telling = teller;
    boolean interrupted = false;
    while (telling != null && telling != Thread.currentThread() && told.getCount() > 0) {
      try {
        told.await();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Gives all locks back, at the same time and each though another should fail, and returns when
   * the store has confirmed it: one round trip where the store can. Idempotent. A store that cannot
   * be reached is tried again in the background; this method waits for it no longer than the
   * client's patience.
   *
   * @throws LeaseLostException when a lock was lost before, the others suppressed in it; thrown by
   *     the first call only
   */
  @Override
  public void close() {
    if (markClosed()) {
      Ending ending = end(engine, leases, true);
      engine.awaitConfirmation(ending.confirmed, () -> "locks " + tokens.keySet());
      ending.throwIfLost();
    }
  }

  /** As {@link #close}, without waiting: a lock that was lost fails the future. */
  public CompletableFuture<Void> closeAsync() {
    if (!markClosed()) {
      return CompletableFuture.completedFuture(null);
    }
    Ending ending = end(engine, leases, false);
    return ending.confirmed.thenRun(ending::throwIfLost);
  }

  /** Closes without waiting and without complaint: nobody has worked under it. */
  void giveBack() {
    closeAsync();
  }

  private boolean markClosed() {
    mutex.lock();
    try {
      boolean first = !closed;
      closed = true;
      return first;
    } finally {
      mutex.unlock();
    }
  }

  /** Gives leases back without waiting and without complaint; the stage tells when that is done. */
  static CompletableFuture<Void> endAll(Engine engine, List<Lease> leases) {
    return end(engine, leases, false).confirmed;
  }

  /**
   * @param confirmed once the store knows; only then {@code lost} is complete
   */
  private record Ending(
      CompletableFuture<Void> confirmed, AtomicReference<@Nullable LeaseLostException> lost) {

    void throwIfLost() {
      LeaseLostException first = lost.get();
      if (first != null) {
        throw first;
      }
    }
  }

  /**
   * The smallest name, for which other groups wait, goes last: whoever gets it finds the rest free.
   */
  private static Ending end(Engine engine, List<Lease> leases, boolean mayBlock) {
    if (leases.isEmpty()) {
      return new Ending(CompletableFuture.completedFuture(null), new AtomicReference<>());
    }
    List<CompletableFuture<Void>> confirmed = new ArrayList<>();
    List<Runnable> ends = new ArrayList<>();
    AtomicReference<@Nullable LeaseLostException> lost = new AtomicReference<>();
    for (int i = leases.size() - 1; i > 0; i--) {
      confirmed.add(finish(leases.get(i), ends::add, lost));
    }
    CompletableFuture<Void> last = new CompletableFuture<>();
    confirmed.add(last);
    ends.add(
        () ->
            finish(leases.get(0), Runnable::run, lost)
                .whenComplete(
                    (nothing, error) -> {
                      if (error == null) {
                        last.complete(null);
                      } else {
                        last.completeExceptionally(error);
                      }
                    }));
    engine.runTogether(ends, mayBlock);
    return new Ending(CompletableFuture.allOf(confirmed.toArray(CompletableFuture[]::new)), lost);
  }

  private static CompletableFuture<Void> finish(
      Lease lease, Executor ends, AtomicReference<@Nullable LeaseLostException> lost) {
    try {
      return lease.finish(ends);
    } catch (LeaseLostException e) {
      LeaseLostException first = lost.compareAndExchange(null, e);
      if (first != null) {
        first.addSuppressed(e);
      }
      return CompletableFuture.completedFuture(null);
    }
  }

  @Override
  public String toString() {
    return "GroupLease" + tokens;
  }
}
