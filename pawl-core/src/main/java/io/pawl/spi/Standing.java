package io.pawl.spi;

import java.time.Duration;

/** What the store says of a claim. */
public sealed interface Standing {

  /**
   * The claim is held, and the fencing tokens from {@code token} to {@code lastToken} are this
   * hold's alone: larger than every token granted before, smaller than every one granted later. A
   * client that passes the hold on among its own threads uses a larger one of them each time.
   *
   * @param token the first, 1 to {@link Tokens#MAX}
   * @param lastToken the last, {@code token} to {@link Tokens#MAX}
   */
  record Held(long token, long lastToken) implements Standing {
    public Held {
      if (token < 1 || lastToken < token || lastToken > Tokens.MAX) {
        throw new IllegalArgumentException("tokens: " + token + " to " + lastToken);
      }
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

  Standing GONE = new Gone();
}
