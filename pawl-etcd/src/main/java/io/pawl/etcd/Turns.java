package io.pawl.etcd;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one client for one lock, in an order: they travel on several connections, and
 * have to take effect as if one followed another. One whose time is over before its turn is never
 * sent.
 *
 * <p>An attempt waits for all requests before it. A withdrawal waits for those of its own claim,
 * and for attempts that do not queue, which another order would answer otherwise. It does not wait
 * for others' attempts to queue: they stand behind it or beside it, whichever comes first, so a
 * release takes no longer while others join. Thread-safe.
 */
final class Turns {

  private static final Logger log = LoggerFactory.getLogger(Turns.class);

  /** How many requests of a lock are examined for some that need not wait any more. */
  private static final int MOST_EXAMINED = 256;

  private final Deadlines deadlines;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<String, Line> lines = new HashMap<>();

  Turns(Deadlines deadlines) {
    this.deadlines = deadlines;
  }

  private static final class Turn {
    final Claim claim;
    final boolean withdraws;
    final Supplier<CompletableFuture<Runnable>> request;
    final CompletableFuture<?> answer;
    boolean begun;

    /** That began with it, and is run after it: a chain, which takes no memory. */
    @Nullable Turn next;

    /**
     * @param request gives what tells the answer
     */
    Turn(
        Claim claim,
        boolean withdraws,
        Supplier<CompletableFuture<Runnable>> request,
        CompletableFuture<?> answer) {
      this.claim = claim;
      this.withdraws = withdraws;
      this.request = request;
      this.answer = answer;
    }

    /** Whether withdrawals wait for it: what it finds depends on them. */
    boolean isImpatient() {
      return !withdraws && !claim.queues();
    }
  }

  /** The requests of one lock. Guarded by the mutex. */
  private static final class Line {
    final ArrayDeque<Turn> turns = new ArrayDeque<>();
    final Map<ClaimId, Integer> ofClaim = new HashMap<>();
    int impatient;

    /** Returns whether it depends on nothing before it. */
    boolean add(Turn turn) {
      boolean independent =
          turns.isEmpty()
              || (turn.withdraws && impatient == 0 && !ofClaim.containsKey(turn.claim.id()));
      ofClaim.merge(turn.claim.id(), 1, Integer::sum);
      turns.add(turn);
      impatient += turn.isImpatient() ? 1 : 0;
      return independent;
    }

    void remove(Turn turn) {
      if (turns.remove(turn)) {
        ofClaim.computeIfPresent(turn.claim.id(), (id, count) -> count == 1 ? null : count - 1);
        impatient -= turn.isImpatient() ? 1 : 0;
      }
    }
  }

  /** Runs an attempt of {@code claim} when all requests made before for its lock are answered. */
  <T> CompletableFuture<T> attempt(Claim claim, Supplier<CompletableFuture<T>> request) {
    return take(claim, false, request);
  }

  /** Runs a withdrawal of {@code claim} when the requests are answered that it depends on. */
  <T> CompletableFuture<T> withdrawal(Claim claim, Supplier<CompletableFuture<T>> request) {
    return take(claim, true, request);
  }

  private <T> CompletableFuture<T> take(
      Claim claim, boolean withdraws, Supplier<CompletableFuture<T>> request) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    AtomicBoolean decided = new AtomicBoolean(); // begun or given up, whichever came first
    Supplier<CompletableFuture<Runnable>> turn =
        () ->
            decided.compareAndSet(false, true)
                ? answered(request, answer)
                : CompletableFuture.completedFuture(() -> {});
    deadlines.limit(answer, () -> !decided.compareAndSet(false, true));
    Turn mine = new Turn(claim, withdraws, turn, answer);
    boolean begins;
    mutex.lock();
    try {
      begins = lines.computeIfAbsent(claim.lock(), lock -> new Line()).add(mine);
      mine.begun = begins;
    } finally {
      mutex.unlock();
    }
    if (begins) {
      work(claim.lock(), mine);
    }
    return answer;
  }

  private static <T> CompletableFuture<Runnable> answered(
      Supplier<CompletableFuture<T>> request, CompletableFuture<T> answer) {
    CompletableFuture<T> asked;
    try {
      asked = request.get();
    } catch (RuntimeException | Error e) {
      asked = CompletableFuture.failedFuture(e);
    }
    return asked.handle(
        (value, error) ->
            error == null
                ? () -> answer.complete(value)
                : () -> answer.completeExceptionally(error));
  }

  /**
   * Begins the turns of a chain. A turn has ended before its answer is told: who asks again then
   * finds nobody before it.
   */
  private void work(String lock, @Nullable Turn begun) {
    Turn turn = begun;
    while (turn != null) {
      Turn each = turn;
      try {
        CompletableFuture<Runnable> answer = each.request.get();
        if (answer.isDone()) {
          append(each, ended(lock, each));
          answer.join().run();
        } else {
          answer.whenComplete((tell, error) -> answered(lock, each, tell, error));
        }
      } catch (RuntimeException | Error e) { // of memory: those behind it go on
        append(each, ended(lock, each));
        each.answer.completeExceptionally(e);
      }
      turn = each.next;
    }
  }

  private void answered(
      String lock, Turn turn, @Nullable Runnable tell, @Nullable Throwable error) {
    Turn after = ended(lock, turn);
    try {
      if (tell != null) {
        tell.run();
      } else if (error != null) {
        turn.answer.completeExceptionally(error);
      }
    } finally {
      work(lock, after);
    }
  }

  private static void append(Turn chain, @Nullable Turn more) {
    Turn last = chain;
    while (last.next != null) {
      last = last.next;
    }
    last.next = more;
  }

  /**
   * Takes {@code turn} out, once, and returns the chain of those whose turn it is now. Where memory
   * is short, that is the first of all that wait, at least.
   */
  private @Nullable Turn ended(String lock, Turn turn) {
    mutex.lock();
    try {
      Line line = lines.get(lock);
      if (line == null) {
        return null;
      }
      line.remove(turn);
      Turn first = line.turns.peek();
      if (first == null) {
        lines.remove(lock);
        return null;
      }
      Turn chain = null;
      if (!first.begun) {
        first.begun = true;
        chain = first;
      }
      return begin(line.turns, chain);
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Under the mutex; behind the first of the line.
   *
   * @param chain to be added to
   */
  private static @Nullable Turn begin(ArrayDeque<Turn> line, @Nullable Turn chain) {
    Turn first = chain;
    try {
      Set<ClaimId> before = new HashSet<>();
      boolean impatient = false;
      Iterator<Turn> turns = line.iterator();
      for (int i = 0; i < MOST_EXAMINED && turns.hasNext() && !impatient; i++) {
        Turn turn = turns.next();
        boolean isFirstOfItsClaim = before.add(turn.claim.id());
        boolean mayBegin = turn.withdraws && isFirstOfItsClaim;
        impatient = turn.isImpatient();
        if (!turn.begun && mayBegin) {
          turn.begun = true;
          if (first == null) {
            first = turn;
          } else {
            append(first, turn);
          }
        }
      }
    } catch (OutOfMemoryError e) {
      log.debug("some requests begin when the next one of their lock has ended", e);
    }
    return first;
  }
}
