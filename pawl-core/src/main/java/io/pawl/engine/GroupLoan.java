package io.pawl.engine;

import io.pawl.concurrent.Futures;
import io.pawl.error.LeaseLostException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The engine's side of a user's lease of several locks: their loans, ended together. */
public final class GroupLoan {

  private final Engine engine;
  private final List<Loan> loans;
  private final Map<String, Long> tokens;
  private final Event loss;
  private final Event closing;

  /** Set by the first close: what every close waits for. */
  private final AtomicReference<@Nullable CompletableFuture<Void>> ended = new AtomicReference<>();

  GroupLoan(Engine engine, List<Loan> loans) {
    this.engine = engine;
    this.loans = loans;
    TreeMap<String, Long> byName = new TreeMap<>();
    loans.forEach(loan -> byName.put(loan.lock(), loan.token()));
    this.tokens = Collections.unmodifiableMap(byName);
    String name = "lease of locks " + tokens.keySet();
    this.loss = new Event(name + " was lost", engine.workers().callbacks());
    this.closing = new Event(name + " has to be given back", engine.workers().callbacks());
    for (Loan loan : loans) {
      loan.loss().isPartOf(loss);
      loan.closing().isPartOf(closing);
    }
  }

  public Engine engine() {
    return engine;
  }

  /** Its parts, in the order of names. */
  public List<Loan> loans() {
    return loans;
  }

  public Map<String, Long> tokens() {
    return tokens;
  }

  public Event loss() {
    return loss;
  }

  public Event closing() {
    return closing;
  }

  public boolean isClosed() {
    return ended.get() != null;
  }

  /** Whether all can be trusted; one that finds a loss waits for its callbacks. */
  public boolean isValid() {
    if (isClosed()) {
      return false;
    }
    for (Loan loan : loans) {
      if (!loan.isTrusted()) {
        if (!loan.isReleased()) {
          loss.awaitTold();
        }
        return false;
      }
    }
    return true;
  }

  /**
   * Gives all back.
   *
   * @param mayBlock whether the calling thread would wait for the store anyway
   */
  public Ending end(boolean mayBlock) {
    CompletableFuture<Void> confirmed = new CompletableFuture<>();
    CompletableFuture<Void> first = ended.compareAndExchange(null, confirmed);
    if (first != null) {
      return new Ending(first, untoldLoss());
    }
    Ending ending = endAll(engine, loans, mayBlock);
    Futures.follow(confirmed, ending.confirmed);
    return new Ending(confirmed, ending.lost);
  }

  /**
   * Ends it without complaint: nobody has worked under it. The stage completes when the store
   * knows.
   */
  public CompletableFuture<Void> drop() {
    loans.forEach(loan -> loan.use(false));
    return end(false).confirmed();
  }

  /** Where the first close was a callback's, which hears of no loss. */
  private @Nullable LeaseLostException untoldLoss() {
    LeaseLostException lost = null;
    for (Loan loan : loans) {
      lost = with(lost, loan.untoldLoss());
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
  public record Ending(CompletableFuture<Void> confirmed, @Nullable LeaseLostException lost) {

    /** As {@link #confirmed}, but fails with the loss if there was one, whatever the store says. */
    public CompletableFuture<Void> told() {
      LeaseLostException loss = lost;
      if (loss == null) {
        return confirmed;
      }
      return confirmed.handle(
          (nothing, failure) -> {
            if (failure != null) {
              loss.addSuppressed(failure);
            }
            throw loss;
          });
    }

    public void throwIfLost() {
      if (lost != null) {
        throw lost;
      }
    }
  }

  /** Gives loans back that nobody has worked under; the stage completes when the store knows. */
  static CompletableFuture<Void> dropAll(Engine engine, List<Loan> loans) {
    loans.forEach(loan -> loan.use(false));
    return endAll(engine, loans, false).confirmed;
  }

  /**
   * Gives loans back. The smallest name, for which other groups wait, goes last: whoever gets it
   * finds the rest free.
   */
  private static Ending endAll(Engine engine, List<Loan> loans, boolean mayBlock) {
    List<Loan> ending = new ArrayList<>();
    LeaseLostException lost = null;
    for (int i = loans.size() - 1; i >= 0; i--) {
      Loan loan = loans.get(i);
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
      confirmed.add(loan.giveBackWith(ends, engine.observerLater()));
    }
    Loan last = ending.get(ending.size() - 1);
    CompletableFuture<Void> lastConfirmed = new CompletableFuture<>();
    confirmed.add(lastConfirmed);
    boolean onAWorker = engine.store().blocks();
    ends.add(
        () ->
            Futures.follow(
                lastConfirmed, last.giveBack(mayBlock || onAWorker, engine.observerLater())));
    engine.callTogether(ends, mayBlock);
    return CompletableFuture.allOf(confirmed.toArray(CompletableFuture[]::new));
  }

  @Override
  public String toString() {
    return tokens.toString();
  }
}
