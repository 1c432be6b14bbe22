package io.pawl.checker;

/**
 * One change of a counter under an id.
 *
 * @param counter the counter's name
 * @param id unique in the history
 * @param amount what was to be taken; negative to add
 * @param outcome what became of it
 * @param value the value that the answer named; meaningless for {@link Outcome#UNKNOWN}, and where
 *     {@code hasValue} is false
 * @param hasValue whether the answer named a value
 * @param span from the call to its answer
 */
public record Take(
    String counter,
    String id,
    long amount,
    Outcome outcome,
    long value,
    boolean hasValue,
    Span span) {

  /** What became of a change. */
  public enum Outcome {
    APPLIED,
    REFUSED,
    /** Certainly nothing was changed. */
    UNCHANGED,
    /** Nobody knows; it may have been applied. */
    UNKNOWN
  }
}
