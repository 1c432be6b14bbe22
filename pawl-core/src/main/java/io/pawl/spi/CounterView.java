package io.pawl.spi;

/**
 * A counter as it stands. {@code floor <= value} and {@code value + reserved <= ceiling}, always.
 *
 * @param name 1 to 512 bytes of UTF-8
 * @param value what can be taken, above the floor
 * @param floor the smallest value
 * @param ceiling the largest sum of value and reservations
 * @param reserved the sum of the open reservations, which {@code value} does not include
 * @param forgotten the sum of the changes that the ledger no longer has
 * @param keptFromMillis operations whose ids were first used before this are not remembered,
 *     milliseconds since 1970; 0 while nothing was forgotten
 */
public record CounterView(
    String name,
    long value,
    long floor,
    long ceiling,
    long reserved,
    long forgotten,
    long keptFromMillis) {

  /** Returns a counter that nobody has changed yet: 0, never below 0. */
  public static CounterView unknown(String name) {
    return new CounterView(name, 0, 0, Amounts.MAX, 0, 0, 0);
  }
}
