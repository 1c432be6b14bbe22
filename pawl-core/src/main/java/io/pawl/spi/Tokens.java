package io.pawl.spi;

import io.pawl.error.StoreException;

/**
 * Bounds of fencing tokens. They stay below 2<sup>53</sup>, so that Lua, JSON and JavaScript
 * compare them exactly. A store that counts them one by one has enough for 285 years at a million
 * grants a second on one lock.
 */
public final class Tokens {

  /** The largest token, 2<sup>53</sup> − 1. */
  public static final long MAX = (1L << 53) - 1;

  /** The largest number of tokens that one claim may ask for at once. */
  public static final int MAX_PER_CLAIM = 1 << 16;

  private Tokens() {}

  /**
   * Returns a hold with the next {@code count} tokens after {@code last}.
   *
   * @throws StoreException when the lock has used its tokens up
   */
  public static Standing.Held next(String lock, long last, int count) {
    if (last > MAX - count) {
      throw new StoreException(
          "lock '" + lock + "': fencing tokens are used up (last " + last + "); use another name");
    }
    return new Standing.Held(last + 1, last + count);
  }
}
