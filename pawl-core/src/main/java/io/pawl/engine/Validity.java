package io.pawl.engine;

import io.pawl.spi.Claim;
import java.util.concurrent.TimeUnit;

/**
 * The local deadline of one claim. The store keeps a claim for its lease from the moment at which
 * it read a request, which is later than the moment at which the request was sent. Hence a hold may
 * be trusted until {@code coveredFrom + nanos}, where {@code coveredFrom} is the time just before
 * the last <em>answered</em> attempt or renewal was sent, and {@code nanos} is the lease less
 * {@link #DRIFT} and {@link #MARGIN_NANOS}. A waiter is covered for a whole lease from its first
 * question, and for {@link Claim#keptWaitingMillis} from any later. A grant that comes by bell
 * needs no further question: the store grants a waiter until the deadline that it has in the queue.
 *
 * <p>Written under the claim's mutex; {@link #deadline} is read by anyone.
 */
final class Validity {

  /** How much faster than ours a store's clock may run: 1 %. */
  static final double DRIFT = 0.01;

  /** Taken off every lease beside the drift, for stores that count whole milliseconds: 2 ms. */
  static final long MARGIN_NANOS = 2_000_000;

  private final long leaseNanos;
  private final long nanos;
  private final long lessWhileWaiting;
  private long coveredFrom;
  private long heardFrom;
  private volatile long deadline;

  Validity(Claim claim) {
    long keptWaiting = Claim.keptWaitingMillis(claim.leaseMillis());
    this.leaseNanos = claim.lease().toNanos();
    this.lessWhileWaiting = leaseNanos - TimeUnit.MILLISECONDS.toNanos(keptWaiting);
    this.nanos = leaseNanos - (long) (leaseNanos * DRIFT) - MARGIN_NANOS;
  }

  /** The first request is about to be sent. */
  void begin(long now) {
    coveredFrom = now;
    heardFrom = now;
  }

  /** The request sent at {@code sentAt} was answered: the claim lives. */
  void cover(long sentAt) {
    coveredFrom = Math.max(coveredFrom, sentAt);
    heardFrom = Math.max(heardFrom, sentAt);
  }

  /** The question sent at {@code sentAt} was answered: when the store read it, the claim waited. */
  void coverWaiting(long sentAt) {
    coveredFrom = Math.max(coveredFrom, sentAt - lessWhileWaiting);
    heardFrom = Math.max(heardFrom, sentAt);
  }

  /** The claim is held, and may be trusted as far as it is covered. */
  void trust() {
    deadline = coveredFrom + nanos;
  }

  long coveredFrom() {
    return coveredFrom;
  }

  /** When the store lets go of it at the latest, unless it hears of it again. */
  long runsOutAt() {
    return heardFrom + leaseNanos;
  }

  /** Whether too little would be left of a hold, trusted now, to work under it. */
  boolean isNearlySpent(long now) {
    return coveredFrom + nanos - now < nanos / 8;
  }

  boolean isOver(long now) {
    return now - deadline >= 0;
  }

  long remainingNanos(long now) {
    return Math.max(0, deadline - now);
  }

  /** How long ago that was sent up to which it is covered. */
  long ageNanos(long now) {
    return now - (deadline - nanos);
  }

  /** Whether a good part is left, so that the hold is worth passing on. */
  boolean isFresh(long now) {
    return deadline - now > nanos / 6;
  }

  /** Whether it does not last until then, should nothing more be answered. */
  boolean isLostBy(long time) {
    return time - lossAt() >= 0;
  }

  /** Shortly before the deadline, so that the loss is told by then. */
  long lossAt() {
    return deadline - Math.min(nanos / 50, 20_000_000);
  }
}
