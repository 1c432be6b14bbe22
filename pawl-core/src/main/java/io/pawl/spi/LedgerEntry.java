package io.pawl.spi;

import java.util.Locale;

/**
 * A line of a counter's ledger: one operation, entered once under its id. At every moment the
 * counter's value is the sum of all changes in its ledger, and of those forgotten.
 *
 * @param id the operation's, see {@link CounterRequest#id}
 * @param operation what was asked
 * @param status what became of it
 * @param change what it contributes to the counter's value now: a reservation that has returned, or
 *     anything refused, contributes 0
 * @param value the counter's value just after it was decided
 * @param at when it was decided, milliseconds since 1970 on the store's clock
 * @param issuedMillis when its id was first used, milliseconds since 1970 by the client, or when a
 *     question closed it; 0 unknown
 * @param until the deadline of a reservation as {@code at}, 0 for anything else
 */
public record LedgerEntry(
    String id,
    Operation operation,
    Status status,
    long change,
    long value,
    long at,
    long issuedMillis,
    long until) {

  /** What became of an operation. All but {@link #RESERVED} are final. */
  public enum Status {
    /** It was applied, exactly once. */
    APPLIED,
    /** It was refused: it was not applied, and never will be. */
    REFUSED,
    /** A reservation that is still open. */
    RESERVED,
    /** A reservation that was confirmed: it was taken for good. */
    CONFIRMED,
    /** A reservation that was cancelled: it is back in stock. */
    CANCELLED,
    /** A reservation whose deadline has passed: it is back in stock. */
    EXPIRED,
    /** The store had never heard of it, and will refuse it should it still arrive. */
    NEVER;

    /** As the ledger writes it: lower case. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What is reserved while it is open. */
  public long reserved() {
    return status == Status.RESERVED ? -change : 0;
  }

  /** The same, of which something else has become. */
  public LedgerEntry turned(Status newStatus, long newChange) {
    return new LedgerEntry(id, operation, newStatus, newChange, value, at, issuedMillis, until);
  }
}
