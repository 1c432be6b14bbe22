package io.pawl.quorum;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import org.jspecify.annotations.Nullable;

/**
 * What one node has of a claim, under an id of its own: one that was given up never meets the next.
 * Guarded by the mutex of its {@link QuorumClaim}.
 */
final class NodeClaim {

  enum Status {
    /** The node has said that it has nothing of it. */
    NONE,
    /** Not answered yet, or nobody knows. */
    ASKED,
    WAITING,
    HELD
  }

  private static final int MOST_RAISES = 20;

  final int node;
  final Claim claim;

  Status status = Status.ASKED;

  /** The tokens of the hold, where it is one. */
  Standing.@Nullable Held tokens;

  /** When the node told of them. */
  long toldAt;

  /** Whether the node has said so in an attempt's answer: only then does it vote. */
  boolean voted;

  /** The latest request that was answered was sent then. */
  long answeredFrom;

  /** The node keeps the claim for a lease from then, at least. */
  long coveredFrom;

  /** The latest request that was answered with a hold was sent then; 0 if there was none. */
  private long heldFrom;

  /** The latest attempt that was answered was sent then. */
  private long attemptedFrom;

  private boolean attempted;

  /** Until when to ask again at the latest, where it waits. */
  long askAgainNanos;

  /** It was withdrawn there: nothing that the node still says of it counts. */
  boolean givenUp;

  @Nullable Kind otherKind;
  @Nullable StoreException failure;
  long failedFrom;

  private boolean answered;
  private boolean failed;
  private boolean doubtful;
  private int attemptsUnderWay;
  private int underWay;
  private long askedAbove;
  private long sentAt;

  /** It was asked then, or answered, and has owed answers ever since. */
  private long silentFrom;

  private long rungAt;
  private boolean rung;
  private int raises;

  NodeClaim(int node, Claim claim) {
    this.node = node;
    this.claim = claim;
  }

  /** One of which its node was never told. */
  static NodeClaim unasked(int node, Claim claim) {
    NodeClaim nothing = new NodeClaim(node, claim);
    nothing.status = Status.NONE;
    return nothing;
  }

  long firstToken() {
    Standing.Held known = tokens;
    return status == Status.HELD && known != null ? known.token() : 0;
  }

  void sent(boolean attempt, long now) {
    silentFrom = underWay == 0 ? now : silentFrom;
    underWay++;
    attemptsUnderWay += attempt ? 1 : 0;
    sentAt = now;
  }

  /** The next attempt asks for tokens above {@code floor}. */
  void asksAbove(long floor) {
    askedAbove = Math.max(askedAbove, floor);
  }

  /** Whether no request on its way can give the hold other tokens. */
  boolean isSettledUpon(Standing.Held known) {
    return attemptsUnderWay == 0 || known.token() > askedAbove;
  }

  /** Counts attempts for a vote or for larger tokens; false once there were too many. */
  boolean mayRaise() {
    return raises++ < MOST_RAISES;
  }

  /** It answers again: what it refused a while ago it may grant by now. */
  void mayRaiseOnceMore() {
    raises = Math.min(raises, MOST_RAISES - 1);
  }

  /** It was asked too often: a new round has to. */
  boolean isWornOut() {
    return raises > MOST_RAISES;
  }

  /**
   * Whether it may yet vote for what it is asked: it has not failed, nor been silent for so long,
   * however often it was asked meanwhile.
   */
  boolean mayVote(long silentNanos, long now) {
    boolean answers = !hasFailed() && !owesFor(silentNanos, now);
    return answers && (isAttemptUnderWay() || !isWornOut());
  }

  boolean isUnderWay() {
    return underWay > 0;
  }

  boolean isAttemptUnderWay() {
    return attemptsUnderWay > 0;
  }

  /** A request sent at {@code from} or later is not answered. */
  boolean owesSince(long from) {
    return underWay > 0 && sentAt - from >= 0 && !isFresh(from);
  }

  /** A request sent at {@code from} or later was answered. */
  boolean isFresh(long from) {
    return answered && answeredFrom - from >= 0;
  }

  /** Holds it, by the answer to a request that was sent at {@code from} or later. */
  boolean isHeldSince(long from) {
    return status == Status.HELD && heldFrom != 0 && heldFrom - from >= 0;
  }

  /** Holds it, and an attempt that was sent at {@code from} or later was answered. */
  boolean isHeldAnewSince(long from) {
    return status == Status.HELD && attempted && attemptedFrom - from >= 0;
  }

  boolean isUnasked() {
    return status == Status.NONE && !answered && !failed && underWay == 0;
  }

  boolean hasAnswered() {
    return answered;
  }

  /** Its latest request has failed, and none is under way. */
  boolean hasFailed() {
    return underWay == 0 && hasFailedLast();
  }

  private boolean hasFailedLast() {
    return failed && (!answered || failedFrom - answeredFrom > 0);
  }

  /** It has failed, and did not answer since, or has been silent for so long. */
  boolean isAway(long nanos, long now) {
    return hasFailedLast() || owesFor(nanos, now);
  }

  /** A request is under way that was sent so long ago. */
  boolean isSilentFor(long nanos, long now) {
    return underWay > 0 && now - sentAt >= nanos && !(answered && answeredFrom - sentAt >= 0);
  }

  /** As {@link #isSilentFor}, however often it was asked meanwhile. */
  boolean owesFor(long nanos, long now) {
    return isSilentFor(0, now) && now - silentFrom >= nanos;
  }

  boolean hasFailedSince(long from) {
    return failed && failedFrom - from >= 0;
  }

  /** An attempt of it may still arrive. */
  boolean isUnsettled() {
    return doubtful || attemptsUnderWay > 0;
  }

  /** Withdrawn, or about to be. */
  void giveUp() {
    givenUp = true;
    status = Status.NONE;
    voted = false;
  }

  /** Nothing of it can be at the node, now or later. */
  boolean isNothing() {
    return status == Status.NONE && !isUnsettled();
  }

  /** Its node has said that it has nothing of it, but an attempt may still arrive there. */
  boolean isEndedInDoubt() {
    return status == Status.NONE && isUnsettled();
  }

  private void ended(boolean attempt) {
    underWay--;
    attemptsUnderWay -= attempt ? 1 : 0;
  }

  /**
   * Returns whether the hold that was known has ended at the node meanwhile, and the node now lets
   * the claim in, or stand in line, once more. What a renewal has found is of no use once a later
   * request was answered: the hold may have ended in between.
   */
  boolean answered(Standing standing, long sentAt, boolean attempt, long now) {
    ended(attempt);
    silentFrom = now;
    if (givenUp || isOutdated(standing, sentAt, attempt)) {
      return false;
    }
    if (!answered || sentAt - answeredFrom > 0) {
      answeredFrom = sentAt;
      answered = true;
    }
    if (isOvertaken(standing, sentAt)) {
      return false;
    }
    if (attempt && (!attempted || sentAt - attemptedFrom > 0)) {
      attemptedFrom = sentAt;
      attempted = true;
    }
    boolean anew = isAnother(standing);
    if (standing instanceof Standing.Held held) {
      boolean same = tokens != null && tokens.isSameAs(held) && status == Status.HELD;
      voted = attempt || (same && voted);
      status = Status.HELD;
      tokens = held;
      toldAt = now;
      heldFrom = heldFrom == 0 || sentAt - heldFrom > 0 ? sentAt : heldFrom;
      cover(sentAt);
    } else if (standing instanceof Standing.Waiting waiting) {
      askAgainNanos = waiting.askAgain().toNanos();
      long less = claim.leaseMillis() - Claim.keptWaitingMillis(claim.leaseMillis());
      cover(sentAt - less * 1_000_000);
      status = Status.WAITING;
      voted = false;
    } else {
      status = Status.NONE;
      voted = false;
      otherKind = standing instanceof Standing.OtherKind other ? other.kind() : null;
    }
    return anew;
  }

  /**
   * Whether a bell, or the answer to another request, has told of a hold since this was asked.
   * Either may be the later at the node, so that this neither ends the hold nor confirms it.
   */
  private boolean isOvertaken(Standing standing, long sentAt) {
    boolean held = standing instanceof Standing.Held;
    boolean toldSince = toldAt - sentAt >= 0 || rung && rungAt - sentAt >= 0;
    return !held && status == Status.HELD && toldSince;
  }

  /**
   * Whether this says nothing, as a later request was answered. Of two attempts either may be told
   * first, whatever their order at the node: a hold that the later one told of has not ended before
   * it, and of two holds the one with the larger tokens is the later.
   */
  private boolean isOutdated(Standing standing, long sentAt, boolean attempt) {
    if (!answered || sentAt - answeredFrom >= 0) {
      return false;
    }
    Standing.Held known = tokens;
    boolean mayBeNews =
        status != Status.HELD
            || known == null
            || (standing instanceof Standing.Held held && held.token() >= known.token());
    return !attempt || !mayBeNews;
  }

  /** Whether the hold that is known has ended at the node, if the node says this. */
  boolean isAnother(Standing standing) {
    Standing.Held known = tokens;
    if (status != Status.HELD || known == null) {
      return false;
    }
    boolean unasked = known.token() > askedAbove;
    return standing instanceof Standing.Waiting
        || standing instanceof Standing.Held held && held.token() > known.token() && unasked;
  }

  /** It waited, from its first attempt on, or was held: the node keeps it from {@code from} on. */
  private void cover(long from) {
    if (coveredFrom == 0 || from - coveredFrom > 0) {
      coveredFrom = from;
    }
  }

  void failed(StoreException cause, long sentAt, boolean attempt) {
    ended(attempt);
    failed = true;
    failure = cause;
    failedFrom = sentAt;
    boolean unknown =
        cause instanceof StoreUnavailableException unavailable && !unavailable.isUnsent();
    doubtful |= attempt && unknown;
    if (status == Status.ASKED && !isUnsettled()) {
      status = Status.NONE;
    }
  }

  /** Its bell has rung, late perhaps. Returns whether that is news. */
  boolean rang(Standing.Held held, long now) {
    if (givenUp || isNothing()) {
      return false;
    }
    rung = true;
    rungAt = now;
    if (status == Status.HELD && tokens != null && held.token() <= tokens.token()) {
      return false;
    }
    status = Status.HELD;
    tokens = held;
    toldAt = now;
    voted = false;
    return true;
  }
}
