package io.pawl.quorum;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Time;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.LockStore;
import io.pawl.spi.QuorumNode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the stores. No verb blocks or throws: a store that blocks has threads of its own, one that
 * could not be reached is opened again in the background, and a withdrawal is owed until the store
 * has confirmed it, or the claim has run out there.
 */
final class Node implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Node.class);

  private static final int MOST_OWED = 10_000;
  private static final long PAUSE_NANOS = 500_000_000L;
  private static final long LONGEST_PAUSE_NANOS = 64_000_000_000L;
  private static final long LEAST_KEPT_NANOS = 60_000_000_000L;

  /** For how long a late answer says that the next one would be late: 10 s. */
  private static final long LATE_KEPT_NANOS = 10_000_000_000L;

  private record Debt(Claim claim, long untilNanos) {}

  private final String description;
  private final Supplier<QuorumNode> opener;
  private final Time time;
  private final Lanes lanes;
  private final ConcurrentLinkedQueue<Debt> owed = new ConcurrentLinkedQueue<>();
  private final AtomicInteger owing = new AtomicInteger();
  private final AtomicInteger withdrawing = new AtomicInteger();
  private final AtomicBoolean paying = new AtomicBoolean();
  private final AtomicBoolean opening = new AtomicBoolean();
  private volatile @Nullable QuorumNode store;
  private volatile @Nullable Throwable cannotOpen;
  private long pauseNanos = PAUSE_NANOS; // of the thread that opens
  private volatile boolean closed;

  /** How long its last answer to an attempt took; for ever where it failed, or is late. */
  private volatile long answerNanos;

  /** Since when that is known. */
  private volatile long answeredAt;

  private volatile Runnable refused = () -> {};

  /**
   * @param lanes for the store's verbs where they block, and to open it; closed with this
   */
  Node(String description, Supplier<QuorumNode> opener, Time time, Lanes lanes) {
    this.description = description;
    this.opener = opener;
    this.time = time;
    this.lanes = lanes;
  }

  /** Opens it on this thread; a store that cannot be reached yet is tried again later. */
  void open() {
    try {
      QuorumNode opened = opener.get();
      store = opened;
      if (closed) {
        opened.close();
      }
    } catch (StoreUnavailableException e) {
      cannotOpen = e;
      openLater(PAUSE_NANOS);
    }
  }

  private void openLater(long nanos) {
    if (!closed && opening.compareAndSet(false, true)) {
      time.after(nanos, this::openAside);
    }
  }

  private void openAside() {
    if (!lanes.execute("", this::openAgain)) { // no thread, for now
      opening.set(false);
      openLater(PAUSE_NANOS);
    }
  }

  private void openAgain() {
    opening.set(false);
    try {
      open();
    } catch (RuntimeException | Error e) {
      openAfter(e);
    }
  }

  /** What is wrong with it lasts until somebody mends it, and is told once. */
  private void openAfter(Throwable failure) {
    Throwable before = cannotOpen;
    cannotOpen = failure;
    boolean isNews = before == null || !Objects.equals(before.getMessage(), failure.getMessage());
    pauseNanos = Math.min(2 * (isNews ? PAUSE_NANOS : pauseNanos), LONGEST_PAUSE_NANOS);
    openLater(pauseNanos); // whatever becomes of the log
    if (isNews) {
      log.warn("node {} of a quorum cannot be opened", description, failure);
    }
  }

  boolean isOpen() {
    return store != null;
  }

  /** Whether its last answer to an attempt came within so long, as far as that is known. */
  boolean isPrompt(long nanos) {
    return isOpen() && answerNanos <= nanos;
  }

  /**
   * As {@link #isPrompt}, or it was late so long ago that this says nothing: a client that asks
   * seldom would stand in another line than all others.
   */
  boolean mayBePrompt(long nanos) {
    return isPrompt(nanos) || (isOpen() && time.nanos() - answeredAt > LATE_KEPT_NANOS);
  }

  /** What to do when the store, which is open, has refused an attempt, or not answered it. */
  void whenRefused(Runnable refusal) {
    refused = refusal;
  }

  /** It has not answered in time. */
  void isSlow() {
    answeredAfter(Long.MAX_VALUE);
  }

  private void answeredAfter(long nanos) {
    answeredAt = time.nanos();
    answerNanos = nanos;
  }

  String describe() {
    return description;
  }

  int renewBatch() {
    QuorumNode open = store;
    return open == null ? 256 : open.renewBatch();
  }

  /** The store as {@code type}; null where it is not open, or of another type. */
  <S> @Nullable S as(Class<S> type) {
    QuorumNode open = store;
    return type.isInstance(open) ? type.cast(open) : null;
  }

  CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    long sentAt = time.nanos();
    return ask(claim.lock(), open -> open.attempt(claim, bell))
        .whenComplete(
            (standing, error) -> {
              answeredAfter(error != null ? Long.MAX_VALUE : time.nanos() - sentAt);
              if (error != null && isOpen() && !closed) {
                refused.run();
              }
            });
  }

  CompletionStage<Map<ClaimId, Standing>> renew(List<Claim> claims) {
    return ask(lanes::renew, open -> open.renew(claims));
  }

  /** Its answer to whatever; {@code lock} puts requests in order. */
  <T> CompletionStage<T> ask(String lock, Function<QuorumNode, CompletionStage<T>> verb) {
    return ask(task -> lanes.execute(lock, task), verb);
  }

  /**
   * @param aside runs what would block, unless there is too much of it
   */
  private <T> CompletionStage<T> ask(
      Predicate<Runnable> aside, Function<QuorumNode, CompletionStage<T>> verb) {
    QuorumNode open = store;
    if (open == null || closed) {
      return CompletableFuture.failedFuture(
          StoreUnavailableException.unsent(
              closed ? description + " was closed by this program" : notOpen(), cannotOpen));
    }
    if (!open.blocks()) {
      return called(open, verb);
    }
    CompletableFuture<T> answer = new CompletableFuture<>();
    if (!aside.test(() -> Futures.follow(answer, called(open, verb)))) {
      answer.completeExceptionally(
          StoreUnavailableException.unsent(
              description + " is asked more than it answers, or is closed", null));
    }
    return answer;
  }

  private String notOpen() {
    Throwable why = cannotOpen;
    if (why == null) {
      return description + " is not open yet";
    }
    return why instanceof Error
        ? description + " cannot be opened: " + why
        : String.valueOf(why.getMessage());
  }

  private static <T> CompletionStage<T> called(
      QuorumNode open, Function<QuorumNode, CompletionStage<T>> verb) {
    try {
      return verb.apply(open);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  static StoreException failure(Node node, Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    return cause instanceof StoreException known
        ? known
        : new StoreUnavailableException(
            node.describe() + " failed unexpectedly, and the outcome is unknown: " + cause, cause);
  }

  /**
   * Tells the store, now or, if that fails, later: the stage is of the first time.
   *
   * @param minHold the shortest hold under which the claim was made, of which nothing may be left
   */
  CompletionStage<Void> withdraw(Claim claim, Duration minHold) {
    long ends = Math.max(claim.lease().toNanos(), minHold.toNanos());
    return withdraw(new Debt(claim, time.nanos() + Math.max(LEAST_KEPT_NANOS, ends)));
  }

  private CompletionStage<Void> withdraw(Debt debt) {
    withdrawing.incrementAndGet();
    return ask(debt.claim.lock(), open -> open.withdraw(debt.claim))
        .whenComplete(
            (nothing, error) -> {
              withdrawing.decrementAndGet();
              if (error != null && owing.get() < MOST_OWED) {
                owing.incrementAndGet();
                owed.add(new Debt(debt.claim.asUnsettled(), debt.untilNanos));
                payLater();
              }
            });
  }

  private void payLater() {
    if (!closed && paying.compareAndSet(false, true)) {
      time.after(
          PAUSE_NANOS,
          () -> {
            paying.set(false);
            pay();
          });
    }
  }

  /** What fails is owed again; only as many at once as a node that is away should be asked. */
  private void pay() {
    for (int left = Math.min(owing.get(), 256); left > 0; left--) {
      Debt debt = owed.poll();
      if (debt == null) {
        return;
      }
      owing.decrementAndGet();
      if (debt.untilNanos - time.nanos() > 0) {
        withdraw(debt);
      }
    }
    if (!owed.isEmpty()) {
      payLater();
    }
  }

  /** Whether a withdrawal is on its way; what is owed by now waits for a node that is away. */
  boolean isWithdrawing() {
    return withdrawing.get() > 0;
  }

  /** All that {@code calls} asks may travel together. */
  void together(Runnable calls) {
    LockStore open = store;
    if (open == null || open.blocks()) {
      calls.run();
    } else {
      open.together(calls);
    }
  }

  /** Nothing is asked from now on. */
  void leave() {
    closed = true;
    lanes.close();
  }

  @Override
  public void close() {
    leave();
    QuorumNode open = store;
    if (open != null) {
      open.close();
    }
  }
}
