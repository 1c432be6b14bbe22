package io.pawl.etcd;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

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
    boolean begun;

    /**
     * @param request never fails; gives what tells the answer
     */
    Turn(Claim claim, boolean withdraws, Supplier<CompletableFuture<Runnable>> request) {
      this.claim = claim;
      this.withdraws = withdraws;
      this.request = request;
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
      turns.add(turn);
      ofClaim.merge(turn.claim.id(), 1, Integer::sum);
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
    Turn mine = new Turn(claim, withdraws, turn);
    boolean begins;
    mutex.lock();
    try {
      begins = lines.computeIfAbsent(claim.lock(), lock -> new Line()).add(mine);
      mine.begun = begins;
    } finally {
      mutex.unlock();
    }
    if (begins) {
      work(claim.lock(), List.of(mine));
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

  /** A turn has ended before its answer is told: who asks again then finds nobody before it. */
  private void work(String lock, List<Turn> begun) {
    ArrayDeque<Turn> next = new ArrayDeque<>(begun);
    for (Turn turn = next.poll(); turn != null; turn = next.poll()) {
      Turn each = turn;
      CompletableFuture<Runnable> answer = each.request.get();
      if (answer.isDone()) {
        next.addAll(ended(lock, each));
        answer.join().run();
      } else {
        answer.thenAccept(
            tell -> {
              List<Turn> after = ended(lock, each);
              tell.run();
              work(lock, after);
            });
      }
    }
  }

  /** Takes {@code turn} out, and returns those whose turn it is now. */
  private List<Turn> ended(String lock, Turn turn) {
    mutex.lock();
    try {
      Line line = lines.get(lock);
      if (line == null) {
        return List.of();
      }
      line.remove(turn);
      if (line.turns.isEmpty()) {
        lines.remove(lock);
      }
      return begin(line.turns);
    } finally {
      mutex.unlock();
    }
  }

  /** Under the mutex. */
  private static List<Turn> begin(ArrayDeque<Turn> line) {
    List<Turn> begun = new ArrayList<>();
    Set<ClaimId> before = new HashSet<>();
    boolean impatient = false;
    Iterator<Turn> turns = line.iterator();
    for (int i = 0; i < MOST_EXAMINED && turns.hasNext() && !impatient; i++) {
      Turn turn = turns.next();
      boolean isFirst = i == 0;
      if (!turn.begun && (isFirst || (turn.withdraws && !before.contains(turn.claim.id())))) {
        turn.begun = true;
        begun.add(turn);
      }
      before.add(turn.claim.id());
      impatient = turn.isImpatient();
    }
    return begun;
  }
}
