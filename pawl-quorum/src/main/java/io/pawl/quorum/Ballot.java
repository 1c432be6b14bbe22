package io.pawl.quorum;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.quorum.NodeClaim.Status;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What the nodes' answers about one claim come to. Pure: reads what is known, changes nothing. */
final class Ballot {

  private final NodeClaim[] at;
  private final int majority;

  Ballot(NodeClaim[] at) {
    this.at = at;
    this.majority = at.length / 2 + 1;
  }

  int majority() {
    return majority;
  }

  /** How many nodes say that they hold it, votes or not. */
  int held() {
    return (int) Arrays.stream(at).filter(each -> each.status == Status.HELD).count();
  }

  boolean isHeldByAMajority() {
    return held() >= majority;
  }

  /** Whether a majority holds it without {@code one}. */
  boolean isHeldWithout(NodeClaim one) {
    return held() - (one.status == Status.HELD ? 1 : 0) >= majority;
  }

  /** Whether a majority holds it, each of which keeps it for a lease from after {@code from}. */
  boolean isKeptSince(long from) {
    return Arrays.stream(at)
            .filter(each -> each.status == Status.HELD && each.coveredFrom != 0)
            .filter(each -> each.coveredFrom - from > 0)
            .count()
        >= majority;
  }

  /** How many nodes hold it or have it in line, as far as they answer. */
  int inLine() {
    return (int)
        Arrays.stream(at)
            .filter(
                each ->
                    each.status == Status.HELD
                        || each.status == Status.WAITING && !each.hasFailed())
            .count();
  }

  /** Whether nodes that hold it were asked in vain as often as may be, and nothing is under way. */
  boolean isStuck() {
    boolean stuck = false;
    for (NodeClaim each : at) {
      if (each.status == Status.HELD && each.isAttemptUnderWay()) {
        return false;
      }
      stuck |= each.status == Status.HELD && each.isWornOut();
    }
    return stuck;
  }

  /** The largest token that any node that holds it may show by now, 0 if none holds it. */
  long largestToken(TokenClock clock, long now) {
    long largest = 0;
    for (NodeClaim each : at) {
      if (each.status == Status.HELD) {
        largest = Math.max(largest, clock.later(last(each), now - each.toldAt));
      }
    }
    return largest;
  }

  private static long first(NodeClaim each) {
    Standing.Held tokens = each.tokens;
    return tokens == null ? 0 : tokens.token();
  }

  private static long last(NodeClaim each) {
    Standing.Held tokens = each.tokens;
    return tokens == null ? 0 : tokens.lastToken();
  }

  /** Holds it, has voted, and keeps it from {@code from} on. */
  static boolean votes(NodeClaim each, long from) {
    return each.status == Status.HELD && each.voted && each.coveredFrom - from >= 0;
  }

  /** Whether it stands for a hold that was granted under {@code tokens}. */
  static boolean counts(NodeClaim each, Standing.Held tokens) {
    return each.status == Status.HELD && each.voted && last(each) >= tokens.lastToken();
  }

  /**
   * The tokens that a majority has granted, each node itself, and keeps; null if there are none.
   *
   * @param from only nodes that keep the claim from then on
   */
  Standing.@Nullable Held agreed(long from) {
    for (NodeClaim each : at) {
      if (isElected(each, from, 0)) {
        long first = first(each);
        long last = Long.MAX_VALUE;
        int count = 0;
        for (NodeClaim other : at) {
          if (isElected(other, from, 0) && first(other) == first) {
            last = Math.min(last, last(other));
            count++;
          }
        }
        if (count >= majority) {
          return new Standing.Held(first, last);
        }
      }
    }
    return null;
  }

  /** Whether a majority of those that hold it would answer if it were asked for larger tokens. */
  boolean canBeRaised(long silentNanos, long now) {
    long able =
        Arrays.stream(at)
            .filter(each -> each.status == Status.HELD && !each.isWornOut())
            .filter(each -> each.mayVote(silentNanos, now))
            .count();
    return able >= majority;
  }

  /**
   * Whether votes that were asked for, or can be, may still make a majority of equal tokens. Where
   * one that can be asked above {@code floor} did not count, a node that answers late would have
   * the floor raised, and those that were asked above the old one would be late themselves.
   *
   * @param floor only tokens above it count
   * @param silentNanos for how long a node is waited for
   */
  boolean mayAgree(long from, long floor, long silentNanos, long now) {
    int open = 0;
    int most = 0;
    for (NodeClaim each : at) {
      if (isElected(each, from, floor)) {
        int same = 0;
        for (NodeClaim other : at) {
          same += isElected(other, from, floor) && first(other) == first(each) ? 1 : 0;
        }
        most = Math.max(most, same);
      } else if (each.status == Status.HELD && each.mayVote(silentNanos, now)) {
        open++;
      }
    }
    return open > 0 && most + open >= majority;
  }

  /** Has voted for tokens above a floor, which it is not asked to change. */
  static boolean isElected(NodeClaim each, long from, long floor) {
    return votes(each, from) && isSettled(each) && first(each) > floor;
  }

  /** Its tokens stay as they are. Others are no grant's: whoever looks would see larger ones. */
  private static boolean isSettled(NodeClaim each) {
    Standing.Held tokens = each.tokens;
    return tokens != null && each.isSettledUpon(tokens);
  }

  /**
   * Whether a majority holds it under the same tokens, so that only votes are missing, which may
   * come.
   *
   * @param silentNanos for how long a node is waited for
   */
  boolean isAlike(long from, long silentNanos, long now) {
    for (NodeClaim each : at) {
      int same = 0;
      for (NodeClaim other : at) {
        boolean settled = other.status == Status.HELD && isSettled(other);
        boolean counts = votes(other, from) || other.mayVote(silentNanos, now);
        same += settled && counts && first(other) == first(each) ? 1 : 0;
      }
      if (each.status == Status.HELD && same >= majority) {
        return true;
      }
    }
    return false;
  }

  /** How a claim that is held stands; null while that is open. */
  @Nullable Standing ofHold(Standing.Held granted, long from, boolean overdue) {
    if (!isHeldByAMajority()) {
      return Standing.GONE;
    }
    int fresh = 0;
    int owing = 0;
    for (NodeClaim each : at) {
      if (counts(each, granted) && each.isHeldSince(from)) {
        fresh++;
      } else if (each.status == Status.HELD && each.isUnderWay()) {
        owing++;
      }
    }
    if (fresh >= majority) {
      return granted;
    }
    if (!overdue && fresh + owing >= majority) {
      return null;
    }
    throw silence();
  }

  /**
   * How a claim stands that is not held, of which the seat decides; null while that is open. One
   * that does not queue has to try again in time, and others that do wait for it meanwhile.
   *
   * @param silentNanos for how long such a claim waits for a node that may make it a majority
   */
  @Nullable Standing ofRequest(
      Claim claim, NodeClaim seat, long from, boolean overdue, long silentNanos, long now) {
    boolean told = seat.isFresh(from);
    if (told && seat.status == Status.WAITING && claim.queues()) {
      return new Standing.Waiting(Duration.ofNanos(Math.max(1_000_000, seat.askAgainNanos)));
    }
    if (told && seat.status == Status.NONE && seat.otherKind == null) {
      return Standing.GONE;
    }
    int here = 0;
    int holding = 0;
    int owing = 0;
    int silent = 0;
    int none = 0;
    int otherKind = 0;
    Kind kind = null;
    for (NodeClaim each : at) {
      if (each.owesSince(from)) {
        owing++;
        if (!claim.queues() && each.owesFor(silentNanos, now)) {
          silent++;
        }
      } else if (!each.isFresh(from)) {
        continue; // failed
      } else if (each.status == Status.HELD) {
        holding++;
        here++;
      } else if (each.status == Status.WAITING) {
        here++;
      } else if (each.otherKind != null) {
        otherKind++;
        kind = each.otherKind;
      } else if (each.status == Status.NONE) {
        none++;
      }
    }
    boolean mayBeHeld = isHeldByAMajority() || holding + owing - silent >= majority;
    if (!overdue && (mayBeHeld || seat.owesSince(from))) {
      return null;
    }
    if (claim.queues() && here >= majority) {
      return waiting(claim);
    }
    if (!overdue && claim.queues() && here + owing >= majority) {
      return null;
    }
    if (otherKind >= majority && kind != null) {
      return new Standing.OtherKind(kind);
    }
    if (none >= majority || (!claim.queues() && none > 0 && none + holding >= majority)) {
      return Standing.GONE;
    }
    if (!overdue && owing > 0) {
      return null;
    }
    throw silence();
  }

  /** Until so many may be free that, with those that hold it, they make a majority. */
  private Standing waiting(Claim claim) {
    long[] pauses =
        Arrays.stream(at)
            .filter(each -> each.status == Status.WAITING)
            .mapToLong(each -> each.askAgainNanos)
            .sorted()
            .toArray();
    int missing = Math.max(1, majority - held());
    long pause = missing <= pauses.length ? pauses[missing - 1] : claim.lease().toNanos() / 4;
    return new Standing.Waiting(Duration.ofNanos(Math.max(1_000_000, pause)));
  }

  /** What nodes said, if a majority refused for good; else that too few have answered. */
  private StoreException silence() {
    StoreException any = null;
    StoreException refusal = null;
    int refusals = 0;
    for (NodeClaim each : at) {
      StoreException failure = each.failure;
      any = failure == null ? any : failure;
      if (failure != null && !(failure instanceof StoreUnavailableException)) {
        refusal = failure;
        refusals++;
      }
    }
    if (refusal != null && refusals >= majority) {
      return refusal;
    }
    return new StoreUnavailableException(
        "too few nodes of the quorum have answered, "
            + majority
            + " have to"
            + (any == null ? "" : "; one said: " + any.getMessage()),
        any);
  }
}
