package io.pawl.engine;

/**
 * The local deadline of one claim. The store keeps a claim for its lease from the moment at which
 * it read a request, which is later than the moment at which the request was sent. Hence a hold may
 * be trusted until {@code coveredFrom + nanos}, where {@code coveredFrom} is the time just before
 * the last <em>answered</em> attempt or renewal was sent, and {@code nanos} is the lease less
 * {@link #DRIFT} and {@link #MARGIN_NANOS}. A grant that comes by bell needs no further question:
 * the store grants a waiter until the deadline of its last sign of life.
 *
 * <p>Written under the claim's mutex; {@link #deadline} is read by anyone.
 */
final class Validity {

  /** How much faster than ours a store's clock may run: 1 %. */
  static final double DRIFT = 0.01;

  /** Taken off every lease beside the drift, for stores that count whole milliseconds: 2 ms. */
  static final long MARGIN_NANOS = 2_000_000;

  private final long nanos;
  private long coveredFrom;
  private volatile long deadline;

  Validity(long leaseNanos) {
    this.nanos = leaseNanos - (long) (leaseNanos * DRIFT) - MARGIN_NANOS;
  }

  /** The first request is about to be sent. */
  void begin(long now) {
    coveredFrom = now;
  }

  /** The request sent at {@code sentAt} was answered: the claim lives. */
  void cover(long sentAt) {
    coveredFrom = Math.max(coveredFrom, sentAt);
  }

  /** The claim is held, and may be trusted as far as it is covered. */
  void trust() {
    deadline = coveredFrom + nanos;
  }

  long coveredFrom() {
    return coveredFrom;
  }

  boolean isOver(long now) {
    return now - deadline >= 0;
  }

  long remainingNanos(long now) {
    return Math.max(0, deadline - now);
  }

  /** Whether a good part is left, so that the hold is worth passing on. */
  boolean isFresh(long now) {
    return deadline - now > nanos / 3;
  }

  /** Shortly before the deadline, so that the loss is told by then. */
  long lossAt() {
    return deadline - Math.min(nanos / 50, 20_000_000);
  }
}
