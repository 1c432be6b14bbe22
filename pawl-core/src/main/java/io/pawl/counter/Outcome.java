package io.pawl.counter;

import java.time.Instant;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What became of an operation on a counter.
 *
 * @param id the operation's id; see {@link OperationId}
 * @param status the status; see {@link Status}
 * @param operation the operation in words: {@code add -3}
 * @param change by how much the operation has changed the counter's value, as of now: 0 if it was
 *     refused or undone
 * @param value the counter's value when the operation was decided
 * @param at when the operation was decided, by the store's clock
 * @param until the deadline of a reservation, null for anything else
 */
public record Outcome(
    String id,
    Status status,
    String operation,
    long change,
    long value,
    Instant at,
    @Nullable Instant until) {

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

    /** Returns the name in lower case. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
