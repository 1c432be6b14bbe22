package io.pawl.engine;

import io.pawl.concurrent.Unnested;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link LocalQueue} has decided under its mutex and has done after it: waiters to wake or
 * to nudge, losses to tell, claims to end, and claims to ask for, in this order.
 */
final class Effects {

  private static final CompletableFuture<Void> NOTHING = CompletableFuture.completedFuture(null);

  private @Nullable Waiter<?> wake;
  private List<Waiter<?>> moreWakes = List.of();
  private List<Waiter<?>> nudges = List.of();
  private List<Waiter<?>> hurries = List.of();
  private List<Waiter<?>> waiting = List.of();
  private boolean behindOwn;
  private List<LiveClaim> ends = List.of();
  private List<Ask> asks = List.of();
  private List<Loan> losses = List.of();
  private String whyLost = "";
  private CompletableFuture<Void> told = NOTHING;

  private record Ask(LiveClaim claim, boolean here, long delayNanos) {}

  void wake(Waiter<?> waiter) {
    if (wake == null) {
      wake = waiter;
    } else {
      moreWakes = with(moreWakes, waiter);
    }
  }

  void nudge(Waiter<?> waiter) {
    if (waiter.markNudged()) {
      nudges = with(nudges, waiter);
    }
  }

  void hurry(Waiter<?> waiter) {
    hurries = with(hurries, waiter);
  }

  /**
   * @param own whether a lease of this client is in their way
   */
  void waiting(List<Waiter<?>> begun, boolean own) {
    waiting = begun;
    behindOwn = own;
  }

  void end(LiveClaim claim) {
    ends = with(ends, claim);
  }

  void askHere(LiveClaim claim) {
    asks = with(asks, new Ask(claim, true, 0));
  }

  void ask(LiveClaim claim, long delayNanos) {
    asks = with(asks, new Ask(claim, false, delayNanos));
  }

  void lose(List<Loan> loans, String why) {
    losses = loans;
    whyLost = why;
  }

  /**
   * Does all of it.
   *
   * @param mayBlock whether the calling thread would wait for the store anyway
   * @return {@link #ended}
   */
  CompletableFuture<Void> perform(Engine engine, boolean mayBlock) {
    engine.call(performLocally(engine), mayBlock);
    return ended();
  }

  /**
   * Does all but calls to the store that somebody waits for.
   *
   * @return those calls, in order
   */
  List<Runnable> performLocally(Engine engine) {
    if (wake != null) {
      wake.wake();
    }
    moreWakes.forEach(Waiter::wake);
    for (Waiter<?> waiter : nudges) {
      waiter.nudge();
    }
    waiting.forEach(waiter -> waiter.tellWaiting(behindOwn));
    if (!losses.isEmpty()) {
      told =
          CompletableFuture.allOf(
              losses.stream().map(loan -> loan.lose(whyLost)).toArray(CompletableFuture[]::new));
    }
    hurries.forEach(Waiter::lookAtTheTime);
    return ends.isEmpty() && asks.isEmpty() ? List.of() : calls(engine);
  }

  private List<Runnable> calls(Engine engine) {
    List<Runnable> calls = new ArrayList<>(ends.size() + asks.size());
    boolean together = false;
    if (!ends.isEmpty()) {
      for (LiveClaim claim : ends) {
        claim.end().ifPresent(calls::add);
      }
    }
    for (Ask ask : asks) {
      if (engine.lifecycle().isClosed()) {
        ask.claim.queue().close(); // the closing client may not have seen it: nothing is asked
      }
      if (ask.delayNanos > 0) {
        ask.claim.askAfter(ask.delayNanos);
      } else if (ask.here) {
        calls.add(ask.claim::ask);
        together |= !ends.isEmpty();
      } else if (!ends.isEmpty()) {
        calls.add(() -> engine.run(ask.claim::ask)); // after the ends, whenever they are run
      } else {
        Unnested.run(engine.workers().stores(), () -> engine.run(ask.claim::ask));
      }
    }
    return together ? List.of(() -> inOrder(engine, calls)) : calls;
  }

  /** A question for a lock comes after what this client gives back of it, in the same trip. */
  private static void inOrder(Engine engine, List<Runnable> calls) {
    StoreCalls.run(engine.store()::together, () -> calls.forEach(Runnable::run));
  }

  /** The end of the first claim to end; completed where there is none. */
  CompletableFuture<Void> ended() {
    return ends.isEmpty() ? NOTHING : ends.get(0).confirmed();
  }

  /** Once performed: completes when the holders have been told of their losses. */
  CompletableFuture<Void> told() {
    return told;
  }

  private static <T> List<T> with(List<T> list, T one) {
    List<T> longer = list.isEmpty() ? new ArrayList<>(1) : list;
    longer.add(one);
    return longer;
  }
}
