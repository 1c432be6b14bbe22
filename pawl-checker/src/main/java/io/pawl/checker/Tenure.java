package io.pawl.checker;

/**
 * One lease, from the request to its end, as its holder saw it.
 *
 * @param lock the lock's name
 * @param holder whoever had it, for people
 * @param share how much of the lock
 * @param token its fencing token
 * @param acquiring from the call to its return
 * @param valid when it was valid for certain; may be empty
 * @param end how it ended
 * @param closing from the call of the release to its return, {@link Span#OPEN} where there was none
 * @param loss what the holder was told of a loss
 */
public record Tenure(
    String lock,
    String holder,
    Share share,
    long token,
    Span acquiring,
    Span valid,
    End end,
    Span closing,
    Loss loss) {

  /** How a lease ended. */
  public enum End {
    /** It was released, and nobody said that it was lost. */
    RELEASED,
    /** The holder was told that it was lost. */
    LOST,
    /** It is not known: the holder died, or its history ended. */
    UNKNOWN
  }

  /**
   * What the holder was told.
   *
   * @param told how often
   * @param toldAt when it was told first, {@link Span#OPEN} for never
   * @param foundAt when it first got the answer that the lease is not valid, {@link Span#OPEN} for
   *     never
   */
  public record Loss(int told, long toldAt, long foundAt) {

    public static final Loss NONE = new Loss(0, Span.OPEN, Span.OPEN);
  }

  @Override
  public String toString() {
    return lock + " with token " + token + " of " + holder;
  }
}
