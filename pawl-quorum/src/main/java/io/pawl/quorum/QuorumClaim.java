package io.pawl.quorum;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.quorum.NodeClaim.Status;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One claim of the engine: what each node has of it, and what that comes to. {@link QuorumStore}
 * has the argument.
 *
 * <p>A node is asked with an id of its own for each round, so that nothing of a round that was
 * given up can meet the next. Requests are put together under the mutex and sent after it is let
 * go; what overtakes another on the way is a withdrawal of a claim whose attempt is under way,
 * which is sent as unsettled.
 *
 * <ul>
 *   <li><b>Grant.</b> Once a majority holds the claim, nodes that have not voted, or under
 *       different tokens, are attempted again, above a floor that is larger than all. It is granted
 *       when a majority has voted for the same tokens.
 *   <li><b>Split.</b> Who holds some nodes and no majority gives them back after a pause, and joins
 *       their queues again at the end. The pause grows, is random, and is longer the more one
 *       holds. So does who holds a majority that does not come to agree on tokens.
 *   <li><b>Renewal.</b> Where a node has nothing of the claim any more, a new round begins there.
 * </ul>
 */
final class QuorumClaim {

  private static final long FIRST_YIELD_NANOS = 10_000_000;
  private static final long LONGEST_YIELD_NANOS = 500_000_000;
  private static final int RETRIES = 4;

  final Claim claim;

  private final QuorumLocks locks;
  private final List<Node> nodes;
  private final ReentrantLock mutex = new ReentrantLock();
  private final NodeClaim[] at;
  private final Rounds rounds;
  private final Ballot ballot;
  private final List<Question> questions = new ArrayList<>(2);
  private final AtomicIntegerArray confirmed;
  private Bell bell;
  private Mode mode;
  private int yields;
  private int disagreements;
  private boolean pausing;
  private boolean ended;
  private long floor;
  private long engineCoveredFrom;
  private long heardNanos;
  private Standing.@Nullable Held granted;

  QuorumClaim(Claim claim, Bell bell, QuorumLocks locks, List<Node> nodes) {
    this.claim = claim;
    this.bell = bell;
    this.locks = locks;
    this.nodes = nodes;
    this.mode = claim.mode();
    this.at = new NodeClaim[nodes.size()];
    this.confirmed = new AtomicIntegerArray(nodes.size());
    this.ballot = new Ballot(at);
    this.rounds = new Rounds(claim, at, locks, nodes, this);
    this.floor = Math.max(claim.tokenFloor(), locks.tokens().floor());
    this.engineCoveredFrom = locks.now();
  }

  /** The engine attempts it, for the first time or again: every node is asked. */
  CompletableFuture<Standing> attempt(Claim asked, Bell latest) {
    return under(
        effects -> {
          bell = latest;
          if (granted != null && asked.mode() instanceof Mode.Shared) {
            mode = asked.mode(); // a downgrade; there is no way back
          }
          Question question = question();
          for (int i = 0; i < at.length && !ended; i++) {
            NodeClaim known = at[i];
            if (known == null || known.isNothing()) {
              join(i, effects);
            } else {
              rounds.attempt(known, mode, floorFor(known), effects);
            }
          }
          return question.answer();
        });
  }

  /** The engine renews it: what is to be renewed goes into {@code renewals}, one list per node. */
  Question renew(List<List<NodeClaim>> renewals) {
    return under(
        effects -> {
          Question question = question();
          for (int i = 0; i < at.length && !ended; i++) {
            NodeClaim known = at[i];
            if (known.status == Status.HELD || known.status == Status.WAITING) {
              known.sent(false, question.from());
              renewals.get(i).add(known);
            } else if (known.isNothing()) {
              join(i, effects);
            } else if (!known.isUnderWay()) {
              rounds.attempt(known, mode, floorFor(known), effects);
            }
          }
          return question;
        });
  }

  private Question question() {
    long now = locks.now();
    heardNanos = now;
    Question question =
        new Question(this, now, now + locks.patience(claim), new CompletableFuture<>());
    if (ended) {
      question.answer().complete(Standing.GONE);
    } else {
      questions.add(question);
      locks.questions().add(question);
    }
    return question;
  }

  void expire(Question question) {
    under(
        effects -> {
          decide(question, true, effects);
          return true;
        });
  }

  private void join(int node, List<Runnable> effects) {
    Standing.Held held = granted;
    long above = held == null ? Math.max(floor, claim.tokenFloor()) : held.lastToken();
    rounds.join(node, mode, above, claim.queues() || held != null, effects);
  }

  private long floorFor(NodeClaim known) {
    Standing.Held held = granted;
    return held != null && !Ballot.counts(known, held)
        ? held.lastToken()
        : known.claim.tokenFloor();
  }

  /** A node has answered, or failed. */
  void answered(
      NodeClaim known,
      @Nullable Standing standing,
      @Nullable Throwable error,
      long sentAt,
      boolean attempt) {
    under(
        effects -> {
          if (standing != null) {
            known.answered(standing, sentAt, attempt, locks.now());
          } else {
            Node node = nodes.get(known.node);
            StoreException failure =
                error == null
                    ? new StoreUnavailableException(node.describe() + " said nothing of it")
                    : Node.failure(node, error);
            known.failed(failure, sentAt, attempt);
          }
          if (at[known.node] == known) {
            react(effects);
          }
          return true;
        });
  }

  /** A node's bell has rung. */
  void rang(NodeClaim known, Standing standing) {
    if (standing instanceof Standing.Held held) {
      under(
          effects -> {
            if (at[known.node] == known && known.rang(held, locks.now())) {
              react(effects);
            }
            return true;
          });
    }
  }

  private void react(List<Runnable> effects) {
    if (ended) {
      return;
    }
    boolean news = granted == null && ballot.isHeldByAMajority() && isGranted(effects);
    Standing.Held held = granted;
    if (held != null) {
      for (NodeClaim each : at) {
        if (each.status == Status.HELD
            && !each.isAttemptUnderWay()
            && !Ballot.counts(each, held)
            && each.mayRaise()) {
          rounds.attempt(each, mode, held.lastToken(), effects);
        }
      }
    }
    int open = questions.size();
    for (Question question : List.copyOf(questions)) {
      decide(question, false, effects);
    }
    if (news && held != null && questions.size() == open) {
      Bell ringing = bell;
      effects.add(() -> ringing.ring(held));
    }
    if (granted == null && !ended && claim.queues()) {
      yieldLater();
    }
  }

  /** A majority holds it: has it voted for the same tokens? If not, it is asked to. */
  private boolean isGranted(List<Runnable> effects) {
    long now = locks.now();
    long old = now - claim.lease().toNanos() / 4 * 3;
    long from = engineCoveredFrom - old >= 0 ? engineCoveredFrom : old;
    Standing.Held agreed = ballot.agreed(from);
    if (agreed != null) {
      granted = agreed;
      return true;
    }
    boolean alike = ballot.isAlike();
    if (!alike && !ballot.mayAgree(from, floor)) {
      floor = Math.max(floor, locks.tokens().above(ballot.largestToken(), disagreements++));
    }
    for (NodeClaim each : at) {
      boolean lacks =
          each.status == Status.HELD
              && !each.isAttemptUnderWay()
              && !(alike ? Ballot.votes(each, from) : Ballot.isElected(each, from, floor));
      if (lacks && each.mayRaise()) {
        rounds.attempt(each, mode, alike ? each.claim.tokenFloor() : floor, effects);
      }
    }
    return false;
  }

  private void decide(Question question, boolean overdue, List<Runnable> effects) {
    if (question.answer().isDone() || !questions.contains(question)) {
      return;
    }
    Standing standing;
    Standing.Held held = granted;
    try {
      standing =
          held == null
              ? ballot.ofRequest(claim, question.from(), overdue)
              : ballot.ofHold(held, question.from(), overdue);
    } catch (StoreException e) {
      questions.remove(question);
      effects.add(() -> question.answer().completeExceptionally(e));
      return;
    }
    if (standing == null || (!overdue && retries(standing, effects))) {
      return;
    }
    questions.remove(question);
    if (!overdue) {
      locks.answeredAfter(locks.now() - question.from());
    }
    if (standing instanceof Standing.Held || standing instanceof Standing.Waiting) {
      long less =
          standing instanceof Standing.Held
              ? 0
              : claim.leaseMillis() - Claim.keptWaitingMillis(claim.leaseMillis());
      long covered = question.from() - less * 1_000_000;
      engineCoveredFrom = Math.max(engineCoveredFrom, covered);
    } else {
      end(claim.withMinHold(Duration.ZERO), effects);
    }
    Standing told = standing;
    effects.add(() -> question.answer().complete(told));
  }

  /** Who does not queue and meets others who hold no majority either tries again a few times. */
  private boolean retries(Standing standing, List<Runnable> effects) {
    if (claim.queues() || granted != null || standing != Standing.GONE) {
      return false;
    }
    if (pausing) {
      return true;
    }
    if (ballot.held() == 0 || yields >= RETRIES) {
      return false;
    }
    rounds.giveBackHeld(effects);
    pausing = true;
    locks.after(
        pauseNanos(1),
        () ->
            under(
                later -> {
                  pausing = false;
                  for (int i = 0; i < at.length && !ended; i++) {
                    join(i, later);
                  }
                  return true;
                }));
    return true;
  }

  private void yieldLater() {
    int held = ballot.held();
    boolean getsOn = held >= ballot.majority() && !ballot.isStuck();
    if (held == 0 || getsOn || pausing) {
      return;
    }
    pausing = true;
    locks.after(
        pauseNanos(held),
        () ->
            under(
                later -> {
                  pausing = false;
                  if (ended || granted != null) {
                    return true;
                  }
                  if (ballot.held() == held) {
                    for (NodeClaim each : rounds.giveBackHeld(later)) {
                      join(each.node, later);
                    }
                  }
                  react(later);
                  return true;
                }));
  }

  private long pauseNanos(int held) {
    long first = Math.max(FIRST_YIELD_NANOS, 2 * locks.typicalNanos());
    long pause = Math.min(first << Math.min(yields, 8), LONGEST_YIELD_NANOS) * held;
    yields++;
    return (long) (pause * (0.5 + locks.random().nextDouble()));
  }

  /**
   * The engine withdraws it. Completes when a majority has confirmed; the others are told later.
   */
  CompletableFuture<Void> withdraw(Claim asked) {
    return under(
        effects -> {
          Claim gone = granted == null ? asked.withMinHold(Duration.ZERO) : asked;
          CompletableFuture<Void> done = end(gone, effects);
          for (Question question : List.copyOf(questions)) {
            effects.add(() -> question.answer().complete(Standing.GONE));
          }
          questions.clear();
          return done;
        });
  }

  /** From now on nothing of it is asked for, and all that may be at a node is withdrawn there. */
  private CompletableFuture<Void> end(Claim gone, List<Runnable> effects) {
    boolean again = ended;
    ended = true;
    CompletableFuture<Void> done = new CompletableFuture<>();
    AtomicInteger confirmations = new AtomicInteger();
    AtomicInteger failures = new AtomicInteger();
    for (NodeClaim each : at) {
      boolean nothing = each.isNothing() && !(again && each.givenUp);
      CompletableFuture<Void> told =
          nothing || confirmed.get(each.node) == 1
              ? CompletableFuture.completedFuture(null)
              : rounds.withdraw(each, gone.minHold(), gone.unsettled(), effects);
      told.whenComplete(
          (ok, error) -> {
            if (error == null) {
              confirmed.set(each.node, 1);
            }
            if (error == null && confirmations.incrementAndGet() == ballot.majority()) {
              locks.forget(this);
              done.complete(null);
            } else if (error != null && failures.incrementAndGet() == ballot.majority()) {
              done.completeExceptionally(error);
            }
          });
    }
    return done;
  }

  /** Whether the engine has not spoken of it for two leases and a minute. */
  boolean isForgotten(long now) {
    return now - heardNanos > 2 * claim.lease().toNanos() + 60_000_000_000L;
  }

  private interface Work<T> {
    T with(List<Runnable> effects);
  }

  private <T> T under(Work<T> work) {
    List<Runnable> effects = new ArrayList<>();
    T result;
    mutex.lock();
    try {
      result = work.with(effects);
    } finally {
      mutex.unlock();
    }
    effects.forEach(Runnable::run);
    return result;
  }
}
