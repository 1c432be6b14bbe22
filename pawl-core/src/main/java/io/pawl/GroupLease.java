package io.pawl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Several locks held together, each with a token of its own. It belongs to whoever has this object,
 * not to a thread. When one of the locks is lost, all of it counts as lost; the others stay held
 * until it is closed.
 *
 * <p>Thread-safe.
 */
public final class GroupLease implements AutoCloseable {

  private final Engine engine;
  private final List<Lease> leases;
  private final Map<String, Long> tokens;
  private final Event loss;
  private final Event closing;

  /** Set by the first close: what every close waits for. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> ended = new AtomicReference<>();

  GroupLease(Engine engine, List<Lease> leases) {
    this.engine = engine;
    this.leases = leases;
    TreeMap<String, Long> byName = new TreeMap<>();
    leases.forEach(lease -> byName.put(lease.lock(), lease.token()));
    this.tokens = Collections.unmodifiableMap(byName);
    String name = "lease of locks " + tokens.keySet();
    Event lost = new Event(name + " was lost", engine.workers().callbacks());
    Event ends = new Event(name + " has to be given back", engine.workers().callbacks());
    this.loss = lost;
    this.closing = ends;
    for (Lease lease : leases) {
      lease.loan().loss().isPartOf(lost);
      lease.loan().closing().isPartOf(ends);
    }
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
   * store. A call that finds a loss returns after the {@link #onLost} callbacks have run, and waits
   * for them for at most 1 s.
   */
  public boolean isValid() {
    if (ended.get() != null) {
      return false;
    }
    for (Lease lease : leases) {
      if (!lease.loan().isTrusted()) {
        if (!lease.loan().isReleased()) {
          loss.awaitTold();
        }
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
    if (ended.get() != null) {
      throw new IllegalStateException("lease of locks " + tokens.keySet() + " has been closed");
    }
    try {
      leases.forEach(lease -> lease.loan().ensureTrusted());
    } catch (LeaseLostException e) {
      loss.awaitTold();
      throw e;
    }
  }

  /**
   * Calls {@code callback} once when the first of the locks is lost, see {@link Lease#onLost}; soon
   * if one is lost already; never after a close in time.
   */
  public void onLost(Runnable callback) {
    loss.call(callback);
  }

  /** Calls {@code callback} once when the client begins to close, see {@link Lease#onClosing}. */
  public void onClosing(Runnable callback) {
    closing.call(callback);
  }

  /**
   * Gives all locks back, at the same time and each though another should fail, and returns when
   * the store has confirmed it: one round trip where the store can. Idempotent: a second call waits
   * for the same confirmation. A store that cannot be reached is tried again in the background;
   * this method waits for it no longer than the client's patience.
   *
   * @throws LeaseLostException when a lock was lost before, the others suppressed in it; thrown by
   *     the first call only, and never to an {@link #onLost} callback
   */
  @Override
  public void close() {
    Ending ending = end(true);
    engine.awaitConfirmation(ending.confirmed, () -> "locks " + tokens.keySet());
    ending.throwIfLost();
  }

  /**
   * As {@link #close}, without waiting: a lock that was lost fails the future. The future completes
   * on the client's {@linkplain PawlOptions#executor executor}.
   */
  public CompletableFuture<Void> closeAsync() {
    Ending ending = end(false);
    return engine.forUser(ending.confirmed.thenRun(ending::throwIfLost));
  }

  /** Closes without waiting and without complaint: nobody has worked under it. */
  void drop() {
    leases.forEach(lease -> lease.loan().unused());
    end(false);
  }

  private Ending end(boolean mayBlock) {
    CompletableFuture<Void> confirmed = new CompletableFuture<>();
    CompletableFuture<Void> first = ended.compareAndExchange(null, confirmed);
    if (first != null) {
      return new Ending(first, untoldLoss());
    }
    Ending ending = endAll(engine, leases, mayBlock);
    ending.confirmed.whenComplete(
        (nothing, error) -> {
          if (error == null) {
            confirmed.complete(null);
          } else {
            confirmed.completeExceptionally(error);
          }
        });
    return ending;
  }

  /** Where the first close was a callback's, which hears of no loss. */
  private @Nullable LeaseLostException untoldLoss() {
    LeaseLostException lost = null;
    for (Lease lease : leases) {
      lost = with(lost, lease.loan().untoldLoss());
    }
    return lost;
  }

  private static @Nullable LeaseLostException with(
      @Nullable LeaseLostException lost, @Nullable LeaseLostException another) {
    if (lost == null) {
      return another;
    }
    if (another != null) {
      lost.addSuppressed(another);
    }
    return lost;
  }

  /**
   * @param confirmed once the store knows
   * @param lost what the first that was lost threw
   */
  record Ending(CompletableFuture<Void> confirmed, @Nullable LeaseLostException lost) {

    private void throwIfLost() {
      if (lost != null) {
        throw lost;
      }
    }
  }

  /** Gives leases back that nobody has worked under; the stage completes when the store knows. */
  static CompletableFuture<Void> dropAll(Engine engine, List<Lease> leases) {
    leases.forEach(lease -> lease.loan().unused());
    return endAll(engine, leases, false).confirmed;
  }

  /**
   * Gives leases back. The smallest name, for which other groups wait, goes last: whoever gets it
   * finds the rest free.
   *
   * @param mayBlock whether the calling thread would wait for the store anyway
   */
  private static Ending endAll(Engine engine, List<Lease> leases, boolean mayBlock) {
    List<Loan> ending = new ArrayList<>();
    LeaseLostException lost = null;
    for (int i = leases.size() - 1; i >= 0; i--) {
      Loan loan = leases.get(i).loan();
      try {
        if (loan.end()) {
          ending.add(loan);
        }
      } catch (LeaseLostException e) {
        lost = with(lost, e);
      }
    }
    return new Ending(giveBack(engine, ending, mayBlock), lost);
  }

  private static CompletableFuture<Void> giveBack(
      Engine engine, List<Loan> ending, boolean mayBlock) {
    if (ending.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    List<CompletableFuture<Void>> confirmed = new ArrayList<>();
    List<Runnable> ends = new ArrayList<>();
    for (Loan loan : ending.subList(0, ending.size() - 1)) {
      confirmed.add(loan.giveBack(ends::add, engine.observerLater()));
    }
    Loan last = ending.get(ending.size() - 1);
    CompletableFuture<Void> lastConfirmed = new CompletableFuture<>();
    confirmed.add(lastConfirmed);
    ends.add(
        () ->
            last.giveBack(Runnable::run, engine.observerLater())
                .whenComplete(
                    (nothing, error) -> {
                      if (error == null) {
                        lastConfirmed.complete(null);
                      } else {
                        lastConfirmed.completeExceptionally(error);
                      }
                    }));
    engine.runTogether(ends, mayBlock);
    return CompletableFuture.allOf(confirmed.toArray(CompletableFuture[]::new));
  }

  @Override
  public String toString() {
    return "GroupLease" + tokens;
  }
}
