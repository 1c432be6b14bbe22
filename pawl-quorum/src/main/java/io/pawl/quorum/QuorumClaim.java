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
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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
 *   <li><b>Line.</b> A claim stands in line at one node, its {@link Seat}, the same for all clients
 *       that find the same nodes prompt. The others are asked whether they are free. Who waits at
 *       the seat gives back at once what others gave it; who holds the seat stands in line at the
 *       others too. So whoever comes first at the seat gets the rest, readers and writers alike. A
 *       claim that shares the lock asks its seat first and then the others.
 *   <li><b>Grant.</b> Once the seat and a majority hold the claim, {@link Agreement} has a majority
 *       vote for the same tokens.
 *   <li><b>Split.</b> Clients may differ on the seat. Who holds a later one in the order, no
 *       majority, and got no further node during a pause gives all back, and goes to the end of the
 *       line at the first that is prompt by then; who holds the first one stays in line at the
 *       others. The pause grows, is random, and is longer the more one holds. So does who holds a
 *       majority that does not come to agree on tokens, also where it does not queue.
 *   <li><b>Renewal.</b> Where a node has nothing of the claim any more, a new round begins there,
 *       if a majority has confirmed the hold since the last renewal. A node that has not heard of a
 *       downgrade is told again.
 *   <li><b>Loss.</b> A hold that a node ended is not revived by asking there again: what the node
 *       says of it then is given back. A hold that is lost keeps the nodes that it has until the
 *       engine withdraws it: its holder believes in it until he hears, and whoever waits may need
 *       but one of them. It is lost, too, once no majority has kept it for sure: the engine may not
 *       have heard of the grant, and others may have been granted larger tokens since, though a
 *       node that lets the claim in now makes it a majority again.
 * </ul>
 */
final class QuorumClaim {

  private static final long FIRST_YIELD_NANOS = 10_000_000;
  private static final long LONGEST_YIELD_NANOS = 500_000_000;
  private static final int PAUSES_OF_A_TURN = 60;
  private static final int RETRIES = 4;

  final Claim claim;

  private final QuorumLocks locks;
  private final List<Node> nodes;
  private final ReentrantLock mutex = new ReentrantLock();
  private final NodeClaim[] at;

  /** How long each node took to answer the last attempt; 0 if it has not. */
  private final long[] answerNanos;

  private final Rounds rounds;
  private final Ballot ballot;
  private final Seat seat;
  private final List<Question> questions = new ArrayList<>(2);
  private final Ending ending;
  private final Agreement agreement;
  private Bell bell;
  private Mode mode;
  private int yields;
  private boolean pausing;

  /** Nothing is asked any more. */
  private boolean ended;

  private boolean withdrawn;

  /**
   * A majority has confirmed the hold since the last renewal: only then may nodes be taken back.
   */
  private boolean confirmed;

  private long engineCoveredFrom;
  private long heardNanos;

  /** Since when it has its seat. */
  private long turnFrom;

  private long grantedNanos;
  private long downgradedNanos;
  private volatile Standing.@Nullable Held granted;
  private volatile boolean inSilence;

  QuorumClaim(Claim claim, Bell bell, QuorumLocks locks, List<Node> nodes) {
    this.claim = claim;
    this.bell = bell;
    this.locks = locks;
    this.nodes = nodes;
    this.mode = claim.mode();
    this.at = new NodeClaim[nodes.size()];
    this.answerNanos = new long[nodes.size()];
    for (int i = 0; i < at.length; i++) {
      at[i] = NodeClaim.unasked(i, claim);
    }
    this.ballot = new Ballot(at);
    this.seat = new Seat(claim, at, nodes, locks.promptNanos(claim), locks.patience(claim));
    this.rounds = new Rounds(claim, at, locks, nodes, this);
    this.ending = new Ending(at, rounds, locks);
    this.agreement = new Agreement(claim, at, locks, ballot, rounds);
    this.engineCoveredFrom = locks.now();
    this.heardNanos = engineCoveredFrom;
    this.turnFrom = engineCoveredFrom;
  }

  /** The engine attempts it, for the first time or again: every node is asked. */
  CompletableFuture<Standing> attempt(Claim asked, Bell latest) {
    return under(
        effects -> {
          endIfNotKept(effects);
          bell = latest;
          boolean downgrades = granted != null && asked.mode() instanceof Mode.Shared;
          if (downgrades && !mode.equals(asked.mode())) {
            mode = asked.mode(); // there is no way back
            downgradedNanos = locks.now();
          }
          Question question = question(downgrades && isDowngraded(), locks.patience(claim));
          boolean everywhere = seat.asksAll(claim.queues() && locks.isBusy(claim.lock()));
          for (int i = 0; i < at.length && !ended; i++) {
            NodeClaim known = at[i];
            if (!known.isNothing()) {
              rounds.attempt(known, mode, floorFor(known), effects);
            } else if (granted == null && (everywhere || seat.is(i))) {
              join(i, effects);
            }
          }
          return question.answer();
        });
  }

  /**
   * The engine renews it: what is to be renewed goes into {@code renewals}, one list per node.
   *
   * @param patienceNanos how long a majority is waited for
   */
  Question renew(List<List<NodeClaim>> renewals, long patienceNanos) {
    return under(
        effects -> {
          endIfNotKept(effects);
          Question question = question(false, patienceNanos);
          boolean takesBack = confirmed;
          confirmed = false;
          for (int i = 0; i < at.length && !ended; i++) {
            NodeClaim known = at[i];
            boolean renewable = known.status == Status.HELD || known.status == Status.WAITING;
            if (renewable && !lacksDowngrade(known)) {
              if (granted != null) {
                known.mayRaiseOnceMore();
              }
              known.sent(false, question.from());
              renewals.get(i).add(known);
            } else if (known.isNothing()) {
              if (granted == null ? seat.is(i) || seat.isHeld() : takesBack) {
                join(i, effects);
              }
            } else {
              rounds.attempt(known, mode, floorFor(known), effects);
            }
          }
          return question;
        });
  }

  private boolean lacksDowngrade(NodeClaim known) {
    return isDowngraded() && !known.isHeldAnewSince(downgradedNanos);
  }

  private boolean isDowngraded() {
    return !mode.equals(claim.mode());
  }

  boolean isGranted() {
    return granted != null;
  }

  /** Too few nodes have answered the last time. */
  boolean isInSilence() {
    return inSilence;
  }

  private Question question(boolean downgrades, long patienceNanos) {
    long now = locks.now();
    heardNanos = now;
    seat.mayMoveAgain();
    Question question =
        new Question(this, now, now + patienceNanos, downgrades, new CompletableFuture<>());
    if (ended) {
      question.answer().complete(Standing.GONE);
    } else {
      questions.add(question);
      locks.questions().add(question);
    }
    return question;
  }

  /** The seat may be silent: then the next one is taken. So may be one whose vote is waited for. */
  void look(long now) {
    under(
        effects -> {
          if (granted == null && !ended) {
            boolean silent = seat.isSilent(now);
            if (silent) {
              if (seat.isComparedFirst()) {
                askTheOthers(effects);
              }
              moveSeat(effects);
            }
            if (silent || seat.isHeld()) {
              react(effects);
            }
          }
          return true;
        });
  }

  private void askTheOthers(List<Runnable> effects) {
    for (int i = 0; i < at.length; i++) {
      if (at[i].isUnasked()) {
        join(i, effects);
      }
    }
  }

  private void moveSeat(List<Runnable> effects) {
    NodeClaim before = seat.node();
    if (before.otherKind == null) {
      nodes.get(before.node).isSlow();
    }
    boolean othersSuffice = ballot.isHeldWithout(before);
    // usually a question takes as long as its seat is waited for
    long usual = othersSuffice ? majorityNanos() : usualNanos();
    if (seat.move(locks.now(), usual, othersSuffice)) {
      rounds.giveBack(before, effects);
      joinSeat(effects);
    }
  }

  private void joinSeat(List<Runnable> effects) {
    NodeClaim mine = seat.node();
    boolean asked = mine.isAttemptUnderWay() && mine.claim.queues() == claim.queues();
    if (!asked && !seat.isHeld() && !seat.isWaiting()) {
      join(mine.node, effects);
    }
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
    long above = held == null ? agreement.floor() : held.lastToken();
    boolean queues = claim.queues() && (seat.is(node) || seat.isHeld());
    rounds.join(node, mode, above, queues || held != null, minHold(), effects);
  }

  /** What is left of the shortest hold at a node that is taken back. */
  private Duration minHold() {
    long held = granted == null ? 0 : locks.now() - grantedNanos;
    Duration left = claim.minHold().minusNanos(held);
    return left.isNegative() ? Duration.ZERO : left;
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
          endIfNotKept(effects);
          boolean anew = false;
          if (standing != null) {
            long now = locks.now();
            anew = known.answered(standing, sentAt, attempt, now);
            if (attempt) {
              answerNanos[known.node] = now - sentAt;
            }
          } else {
            Node node = nodes.get(known.node);
            StoreException failure =
                error == null
                    ? new StoreUnavailableException(node.describe() + " said nothing of it")
                    : Node.failure(node, error);
            known.failed(failure, sentAt, attempt);
          }
          if (at[known.node] == known && !withdrawn) {
            boolean over = anew || (standing != null && known.isEndedInDoubt());
            if (over && granted != null) {
              rounds.giveBack(known, effects);
            }
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
            endIfNotKept(effects);
            boolean anew = known.isAnother(held);
            if (at[known.node] == known && known.rang(held, locks.now())) {
              if (anew && granted != null) {
                rounds.giveBack(known, effects);
              }
              react(effects);
            }
            return true;
          });
    }
  }

  /** Before what a node says now is taken for what it said all the time. */
  private void endIfNotKept(List<Runnable> effects) {
    long shortest = claim.lease().toNanos() / 100 * 99; // by a node's clock, which may be faster
    if (granted != null && !ended && !ballot.isKeptSince(locks.now() - shortest)) {
      ended = true;
      decideAll(effects);
    }
  }

  private void react(List<Runnable> effects) {
    if (ended) {
      return;
    }
    boolean news = false;
    if (granted == null) {
      standInLine(effects);
      if (seat.isHeld() && ballot.isHeldByAMajority()) {
        granted = agreement.reached(engineCoveredFrom, mode, effects);
        news = granted != null;
        grantedNanos = locks.now();
        confirmed = news;
      }
    }
    Standing.Held held = granted;
    if (held != null) {
      agreement.keep(held, mode, effects);
      questions.forEach(each -> agreement.confirm(each.from(), mode, effects));
    }
    int open = questions.size();
    decideAll(effects);
    if (news && held != null && questions.size() == open) {
      Bell ringing = bell;
      effects.add(() -> ringing.ring(held));
    }
    if (granted == null && !ended && (claim.queues() || isWornOut())) {
      yieldLater();
    }
  }

  private boolean isWornOut() {
    return ballot.isHeldByAMajority() && ballot.isStuck();
  }

  private void standInLine(List<Runnable> effects) {
    if (seat.hasRefused() && !questions.isEmpty()) {
      moveSeat(effects);
    }
    if (seat.isWaiting()) {
      locks.isBusyNow(claim.lock());
      rounds.giveBackBut(seat.node(), effects);
    } else if (seat.isHeld()) {
      joinTheRest(effects);
    }
  }

  /** It is its turn: who is not asked yet, or was busy, lets it stand in line. */
  private void joinTheRest(List<Runnable> effects) {
    NodeClaim mine = seat.node();
    for (NodeClaim each : at) {
      boolean forGood = each.claim.queues() || !claim.queues() || each.otherKind != null;
      boolean refused = each.hasAnswered() && forGood;
      if (each != mine && each.isNothing() && !each.hasFailed() && !refused) {
        if (seat.begins()) {
          turnFrom = locks.now();
          agreement.begin(mine, engineCoveredFrom, mode, effects);
        }
        join(each.node, effects);
      }
    }
  }

  private void decideAll(List<Runnable> effects) {
    for (Question question : List.copyOf(questions)) {
      decide(question, false, effects);
    }
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
              ? ofRequest(question, overdue)
              : ended ? Standing.GONE : ofHold(held, question, overdue);
    } catch (StoreException e) {
      inSilence = true;
      questions.remove(question);
      effects.add(() -> question.answer().completeExceptionally(e));
      return;
    }
    if (standing == null || (!overdue && mayChange(standing, question, effects))) {
      return;
    }
    inSilence = false;
    questions.remove(question);
    if (!overdue && !isNext(standing)) {
      locks.answeredAfter(locks.now() - question.from());
    }
    confirmed |= standing instanceof Standing.Held;
    if (standing instanceof Standing.Held || standing instanceof Standing.Waiting) {
      long less =
          standing instanceof Standing.Held
              ? 0
              : claim.leaseMillis() - Claim.keptWaitingMillis(claim.leaseMillis());
      long covered = question.from() - less * 1_000_000;
      engineCoveredFrom = Math.max(engineCoveredFrom, covered);
    } else if (held != null) {
      ended = true;
    } else {
      end(claim.withMinHold(Duration.ZERO), effects);
    }
    Standing told = standing;
    effects.add(() -> question.answer().complete(told));
  }

  private @Nullable Standing ofRequest(Question question, boolean overdue) {
    return ballot.ofRequest(
        claim, seat.node(), question.from(), overdue, locks.lateNanos(claim), locks.now());
  }

  private @Nullable Standing ofHold(Standing.Held held, Question question, boolean overdue) {
    return owesADowngrade(question) && !overdue
        ? null
        : ballot.ofHold(held, question.from(), overdue);
  }

  /** Readers stand in line at the seat: a writer that has become one lets them in there. */
  private boolean owesADowngrade(Question question) {
    return question.downgrades() && seat.node().owesSince(question.from());
  }

  /** Whether it will stand otherwise in a moment. */
  private boolean mayChange(Standing standing, Question question, List<Runnable> effects) {
    return (isNext(standing) && locks.now() - question.from() < locks.promptNanos(claim))
        || (standing == Standing.GONE && retries(question, effects));
  }

  /** Has its seat, and others are about to let it in. */
  private boolean isNext(Standing standing) {
    return standing instanceof Standing.Waiting && seat.isHeld();
  }

  /**
   * Who does not queue and meets others who hold no majority either tries again a few times, if
   * that can be answered in time: for tokens too. It keeps its seat, by which others know that they
   * come too late.
   */
  private boolean retries(Question question, List<Runnable> effects) {
    if (claim.queues() || granted != null) {
      return false;
    }
    if (pausing) {
      return true;
    }
    if (ballot.held() == 0 || yields >= RETRIES || seat.isTaken()) {
      return false;
    }
    long answered = 2 * tripNanos() + locks.promptNanos(claim); // the engine waits no longer
    long left = question.until() - locks.now() - answered;
    if (left < 0) {
      return false;
    }
    long pause = Math.min(pauseNanos(1), left);
    rounds.giveBackBut(seat.node(), effects);
    pausing = true;
    locks.after(
        pause,
        () ->
            under(
                later -> {
                  pausing = false;
                  for (int i = 0; i < at.length && !ended; i++) {
                    if (at[i].isNothing() && (seat.is(i) || seat.asksAll(false))) {
                      join(i, later);
                    }
                  }
                  return true;
                }));
    return true;
  }

  /** A majority's answer may have come late to this process alone. */
  private long tripNanos() {
    long usual = Math.max(locks.promptNanos(claim), 2 * locks.typicalNanos());
    return Math.min(majorityNanos(), usual);
  }

  private void yieldLater() {
    int held = ballot.held();
    if (held == 0 || pausing || getsOn(held)) {
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
                  if (ballot.held() == held && !getsOn(held)) {
                    seat.chooseAnew();
                    rounds.giveBackBut(null, later);
                    joinSeat(later);
                  }
                  react(later);
                  return true;
                }));
  }

  /** Whether it only has to wait: for its turn, or for nodes that are to agree on tokens. */
  private boolean getsOn(int held) {
    return held >= ballot.majority()
        ? !ballot.isStuck()
        : seat.isWaiting() || (mayStay() && ballot.inLine() >= ballot.majority());
  }

  /**
   * The first node is one for all clients. Which is the first that is left they may see otherwise:
   * who holds that stays for so long as those in line at the others may take to give way.
   */
  private boolean mayStay() {
    if (seat.isFirst()) {
      return true;
    }
    long now = locks.now();
    return seat.isFirstLeft(now) && now - turnFrom < PAUSES_OF_A_TURN * longestPauseNanos();
  }

  private long pauseNanos(int held) {
    long least = claim.queues() && seat.isFirst() ? locks.promptNanos(claim) : FIRST_YIELD_NANOS;
    long first = Math.max(least, 2 * usualNanos());
    long longest = Math.max(first, longestPauseNanos());
    long pause = Math.min(first << Math.min(yields, 8), longest) * held;
    yields++;
    return (long) (pause * (0.5 + locks.random().nextDouble()));
  }

  /** No shorter than answers take: else none would come in time. */
  private long longestPauseNanos() {
    return Math.max(LONGEST_YIELD_NANOS, 2 * usualNanos());
  }

  private long usualNanos() {
    return Math.min(Math.max(locks.typicalNanos(), majorityNanos()), locks.patience(claim));
  }

  /**
   * How long a majority takes to answer, as far as nodes have, and not only the seat, as usually.
   */
  private long majorityNanos() {
    long[] sorted = answerNanos.clone();
    Arrays.sort(sorted);
    int unknown = 0;
    while (unknown < sorted.length && sorted[unknown] == 0) {
      unknown++;
    }
    return sorted[Math.min(unknown + ballot.majority(), sorted.length) - 1];
  }

  /**
   * The engine withdraws it. Completes when a majority has confirmed; the others are told later.
   */
  CompletableFuture<Void> withdraw(Claim asked) {
    return under(effects -> withdraw(asked, effects));
  }

  private CompletableFuture<Void> withdraw(Claim asked, List<Runnable> effects) {
    Claim gone = granted == null ? asked.withMinHold(Duration.ZERO) : asked;
    CompletableFuture<Void> done = end(gone, effects);
    for (Question question : List.copyOf(questions)) {
      effects.add(() -> question.answer().complete(Standing.GONE));
    }
    questions.clear();
    return done;
  }

  /** From now on nothing of it is asked for, and all that may be at a node is withdrawn there. */
  private CompletableFuture<Void> end(Claim gone, List<Runnable> effects) {
    boolean again = withdrawn;
    ended = true;
    withdrawn = true;
    return ending.end(gone, again, seat.node(), () -> locks.forget(this), effects);
  }

  /**
   * Ends it where the engine has not spoken of it for two leases and a minute. It has run out by
   * then, but a node's client may note it as one that waits, for ever.
   */
  void endIfForgotten(long now) {
    under(
        effects -> {
          boolean forgotten = now - heardNanos > 2 * claim.lease().toNanos() + 60_000_000_000L;
          if (forgotten) {
            locks.endForGood(this);
            withdraw(claim, effects);
          }
          return forgotten;
        });
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
