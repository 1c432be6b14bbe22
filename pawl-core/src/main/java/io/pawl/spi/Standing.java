package io.pawl.spi;

import java.time.Duration;
import java.util.List;

/** What the store says of a claim. */
public sealed interface Standing {

  /**
   * The claim is held, and the fencing tokens from {@code token} to {@code lastToken} are this
   * hold's alone: larger than every token granted before, smaller than every one granted later. A
   * client that passes the hold on among its own threads uses a larger one of them each time.
   *
   * <p>The followers are the claims of the same client that stood directly behind this one in line
   * at its grant, exclusive like it. The client may serve them in that order under this hold, with
   * its further tokens, and nobody is overtaken. To know none is always right.
   *
   * @param token the first, 1 to {@link Tokens#MAX}
   * @param lastToken the last, {@code token} to {@link Tokens#MAX}
   * @param followers the next in line first, fewer than the hold has tokens
   */
  record Held(long token, long lastToken, List<ClaimId> followers) implements Standing {
    public Held {
      followers = List.copyOf(followers);
      if (token < 1 || lastToken < token || lastToken > Tokens.MAX) {
        throw new IllegalArgumentException("tokens: " + token + " to " + lastToken);
      }
    }

    /** A hold without known followers. */
    public Held(long token, long lastToken) {
      this(token, lastToken, List.of());
    }

    /** Whether both are the same hold, whatever is known of followers. */
    public boolean isSameAs(Held other) {
      return token == other.token && lastToken == other.lastToken;
    }
  }

  /**
   * The claim stands in line.
   *
   * @param askAgain ask again no later than this, bell or no bell: the earliest time at which the
   *     claim could be granted without anyone's message
   */
  record Waiting(Duration askAgain) implements Standing {}

  /**
   * The store holds no such claim: never taken, run out, evicted, withdrawn, or refused as busy.
   */
  record Gone() implements Standing {}

  /**
   * The store holds no such claim, and will not take it, since its {@link Mode} is for a lock of
   * another kind, or for a semaphore of another capacity.
   *
   * @param kind what the lock is
   */
  record OtherKind(Kind kind) implements Standing {}

  Standing GONE = new Gone();
}
