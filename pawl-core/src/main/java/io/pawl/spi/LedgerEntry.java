package io.pawl.spi;

import java.util.Locale;

/**
 * A line of a counter's ledger: one operation, entered once under its id. At every moment the
 * counter's value is the sum of all changes in its ledger and of those forgotten.
 *
 * @param id the operation's id; see {@link CounterRequest#id}
 * @param operation the operation
 * @param status what became of it
 * @param change what the operation contributes to the counter's value now: a reservation that has
 *     returned, or a refused operation, contributes 0
 * @param value the counter's value just after the operation was decided
 * @param at when the operation was decided, milliseconds since 1970 on the store's clock
 * @param issuedMillis when its id was first used, milliseconds since 1970 by the client, or when a
 *     question closed it; 0 if unknown
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

  /** What became of an operation. All values but {@link #RESERVED} are final. */
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
    /** The store had never heard of it, and will refuse it if it still arrives. */
    NEVER;

    /** Returns the name in lower case, as the ledger writes it. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Returns the reserved amount while the reservation is open, otherwise 0. */
  public long reserved() {
    return status == Status.RESERVED ? -change : 0;
  }

  /** Returns the same entry with another status and change. */
  public LedgerEntry turned(Status newStatus, long newChange) {
    return new LedgerEntry(id, operation, newStatus, newChange, value, at, issuedMillis, until);
  }
}
