package io.pawl.spi;

import io.pawl.Outcome;
import java.time.Instant;

/**
 * A line of a counter's ledger: one operation, entered once under its id. At every moment the
 * counter's value is the sum of all changes in its ledger, and of those forgotten.
 *
 * @param id see {@link io.pawl.OperationId}
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
    Outcome.Status status,
    long change,
    long value,
    long at,
    long issuedMillis,
    long until) {

  /** What is reserved while it is open. */
  long reserved() {
    return status == Outcome.Status.RESERVED ? -change : 0;
  }

  LedgerEntry turned(Outcome.Status newStatus, long newChange) {
    return new LedgerEntry(id, operation, newStatus, newChange, value, at, issuedMillis, until);
  }

  /** For users. */
  public Outcome outcome() {
    return new Outcome(
        id,
        status,
        operation.toString(),
        change,
        value,
        Instant.ofEpochMilli(at),
        until == 0 ? null : Instant.ofEpochMilli(until));
  }
}
