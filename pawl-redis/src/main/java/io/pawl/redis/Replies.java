package io.pawl.redis;

import io.pawl.error.NameInUseException;
import io.pawl.error.StoreException;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What scripts answer, read with suspicion: nothing but two proper tokens makes a claim held. */
final class Replies {

  /** A claim's id, its first and last token, and its followers. */
  static final int RING_LENGTH = 4;

  static final long GONE = -1;

  static final long TOKENS_USED_UP = -2;

  /** Less the capacity, 0 for a lock. */
  static final long OTHER_KIND = -3;

  static final long IS_A_COUNTER = -4_294_967_296L;

  static final long OTHER_LONGEST_LEASE = IS_A_COUNTER - 1;

  /** Less the milliseconds until then. */
  static final long NO_VOTE_YET = IS_A_COUNTER - 2;

  private Replies() {}

  static List<String> addressAndIds(String address, List<Claim> claims) {
    List<String> values = new ArrayList<>(claims.size() + 1);
    values.add(address);
    for (Claim claim : claims) {
      values.add(claim.id().toString());
    }
    return values;
  }

  /** The standing at {@code at}: a token and the last; or 0, and a wait or a reason. */
  static Standing standing(Claim claim, List<Object> reply, int at, Failures failures) {
    long token = number(reply, at, failures);
    long other = number(reply, at + 1, failures);
    if (token != 0) {
      return held(reply, at, failures);
    }
    if (other > 0) {
      return new Standing.Waiting(Duration.ofMillis(other));
    }
    if (other == GONE) {
      return Standing.GONE;
    }
    if (other == IS_A_COUNTER) {
      throw NameInUseException.byCounter(claim.lock());
    }
    if (other == OTHER_LONGEST_LEASE) {
      throw failures.otherLongestLease();
    }
    if (other < IS_A_COUNTER) {
      throw failures.noVoteYet(NO_VOTE_YET - other);
    }
    if (other <= OTHER_KIND) {
      return new Standing.OtherKind(new Kind((int) (OTHER_KIND - other)));
    }
    if (other == TOKENS_USED_UP) {
      throw new StoreException(
          "lock '" + claim.lock() + "': fencing tokens are used up; use another name");
    }
    throw failures.unavailable("answered a script with nonsense", null);
  }

  static Map<ClaimId, Standing> standings(
      List<Claim> claims, List<Object> reply, Failures failures) {
    Map<ClaimId, Standing> standings = new HashMap<>();
    for (int i = 0; i < claims.size(); i++) {
      Claim claim = claims.get(i);
      standings.put(claim.id(), standing(claim, reply, 2 * i, failures));
    }
    return standings;
  }

  static Standing.Held held(List<Object> reply, int at, Failures failures) {
    try {
      return new Standing.Held(number(reply, at, failures), number(reply, at + 1, failures));
    } catch (IllegalArgumentException e) {
      throw failures.unavailable("answered a script with nonsense: " + e.getMessage(), e);
    }
  }

  /** A hold with followers: two tokens and the text that {@link #followers} reads. */
  static Standing.Held granted(ClaimId id, List<Object> reply, int at, Failures failures) {
    try {
      String followers = at + 2 < reply.size() ? String.valueOf(reply.get(at + 2)) : "";
      return new Standing.Held(
          number(reply, at, failures), number(reply, at + 1, failures), followers(id, followers));
    } catch (IllegalArgumentException e) {
      throw failures.unavailable("answered a script with nonsense: " + e.getMessage(), e);
    }
  }

  /** {@code -}, or the numbers of claims of the client of {@code leader}, with commas. */
  static List<ClaimId> followers(ClaimId leader, String numbers) {
    List<ClaimId> followers = new ArrayList<>();
    if (!numbers.equals("-")) {
      for (String number : numbers.split(",", -1)) {
        followers.add(new ClaimId(leader.client(), Long.parseLong(number)));
      }
    }
    return followers;
  }

  static ClaimId id(List<Object> reply, int at, Failures failures) {
    try {
      return ClaimId.parse(String.valueOf(reply.get(at)));
    } catch (IllegalArgumentException e) {
      throw failures.unavailable("answered a script with nonsense: " + e.getMessage(), e);
    }
  }

  private static long number(List<Object> reply, int at, Failures failures) {
    if (at < reply.size() && reply.get(at) instanceof Long number) {
      return number;
    }
    throw failures.unavailable("answered a script with nonsense", null);
  }
}
