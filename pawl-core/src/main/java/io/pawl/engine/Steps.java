package io.pawl.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Line} has decided under its mutex and does after it: waiters to wake or to nudge,
 * claims to end, and claims to ask for, in this order.
 */
final class Steps {

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
  private CompletableFuture<Void> told = CompletableFuture.completedFuture(null);

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
   * Does it all.
   *
   * @param calls runs what calls the store, if that has to be called
   * @return the end of the first claim to end, completed where there is none
   */
  CompletableFuture<Void> take(Engine engine, Executor calls) {
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
    CompletableFuture<Void> ended = null;
    for (LiveClaim claim : ends) {
      CompletableFuture<Void> end = claim.end(calls);
      ended = ended == null ? end : ended;
    }
    for (Ask ask : asks) {
      if (engine.isClosed() && ask.claim.owner() instanceof Line line) {
        line.close(); // it may be one that the closing client has not seen: nothing is asked
      }
      if (ask.delayNanos > 0) {
        ask.claim.askAfter(ask.delayNanos);
      } else if (ask.here) {
        calls.execute(ask.claim::ask);
      } else if (!ends.isEmpty()) {
        calls.execute(() -> engine.run(ask.claim::ask)); // after the ends, whenever they are run
      } else {
        engine.run(ask.claim::ask);
      }
    }
    hurries.forEach(Waiter::lookAtTheTime);
    return ended == null ? CompletableFuture.completedFuture(null) : ended;
  }

  /** Once taken: completes when the holders have been told of their losses. */
  CompletableFuture<Void> told() {
    return told;
  }

  private static <T> List<T> with(List<T> list, T one) {
    List<T> longer = list.isEmpty() ? new ArrayList<>(1) : list;
    longer.add(one);
    return longer;
  }
}
