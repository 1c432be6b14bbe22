package io.pawl.spi;

import java.time.Duration;
import java.util.List;

/** What the store says of a claim: held, waiting, or gone. */
public sealed interface Standing {

  /**
   * The claim is held. The fencing tokens from {@code token} to {@code lastToken} belong to this
   * hold alone: they are larger than every token granted before and smaller than every token
   * granted later. A client that passes the hold on among its own threads uses a larger one each
   * time.
   *
   * <p>The followers are the claims of the same client that stood directly behind this one in the
   * queue at its grant, exclusive like it. The client may serve them in that order under this hold,
   * with its further tokens, and nobody is overtaken. An empty list is always correct. An attempt
   * of a follower has taken effect, whether its answer was heard or not.
   *
   * @param token the first token, 1 to {@link Tokens#MAX}
   * @param lastToken the last token, {@code token} to {@link Tokens#MAX}
   * @param followers the next in the queue first, fewer than the hold has tokens
   */
  record Held(long token, long lastToken, List<ClaimId> followers) implements Standing {
    public Held {
      followers = List.copyOf(followers);
      if (token < 1 || lastToken < token || lastToken > Tokens.MAX) {
        throw new IllegalArgumentException("tokens: " + token + " to " + lastToken);
      }
    }

    /** Makes a hold without known followers. */
    public Held(long token, long lastToken) {
      this(token, lastToken, List.of());
    }

    /** Returns whether both are the same hold, whatever is known of followers. */
    public boolean isSameAs(Held other) {
      return token == other.token && lastToken == other.lastToken;
    }
  }

  /**
   * The claim waits in the queue.
   *
   * @param askAgain ask again after this time at the latest, bell or no bell: the earliest time at
   *     which the claim could be granted without anyone's message
   */
  record Waiting(Duration askAgain) implements Standing {}

  /**
   * The store holds no such claim: never taken, run out, evicted, withdrawn, or refused as busy. Of
   * one that was granted it may have something left, such as a minority of a quorum's nodes, until
   * the claim is withdrawn.
   */
  record Gone() implements Standing {}

  /**
   * The store holds no such claim, and will not take it, since its {@link Mode} is for another kind
   * of lock, or for a semaphore of another capacity.
   *
   * @param kind the kind of the name
   */
  record OtherKind(Kind kind) implements Standing {}

  Standing GONE = new Gone();
}
