package io.pawl.spi;

/**
 * Bounds of counters' values and amounts: within ±(2<sup>53</sup> − 1), so that Lua, JSON and
 * JavaScript compare them exactly, and so that the sum of two cannot overflow.
 */
public final class Amounts {

  /** The largest value, 2<sup>53</sup> − 1. */
  public static final long MAX = Tokens.MAX;

  private Amounts() {}

  /**
   * Returns {@code value}.
   *
   * @param what the name of the value, for the message
   * @throws IllegalArgumentException unless it is within ±{@link #MAX}
   */
  public static long value(String what, long value) {
    if (value < -MAX || value > MAX) {
      throw new IllegalArgumentException(
          what + ": " + value + " is not within ±9007199254740991, which is 2^53 - 1");
    }
    return value;
  }

  /**
   * Returns {@code amount}.
   *
   * @throws IllegalArgumentException unless it is 1 to {@link #MAX}
   */
  public static long positive(String what, long amount) {
    if (amount < 1) {
      throw new IllegalArgumentException(what + ": " + amount + " is not positive");
    }
    return value(what, amount);
  }
}
