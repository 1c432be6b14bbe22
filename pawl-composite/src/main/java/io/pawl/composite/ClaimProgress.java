package io.pawl.composite;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** How far a claim of this client has come: to the gate, and through it to the truth. */
final class ClaimProgress {

  /** As it was first attempted; a downgrade goes past this. */
  final Claim claim;

  private volatile Bell bell;
  private boolean atGate;
  private boolean gateDoubtful;
  private int atGateUnanswered;
  private boolean sent;
  private long sentNanos;
  private int unanswered;
  private CompletableFuture<Void> answered = CompletableFuture.completedFuture(null);
  private boolean known;
  private boolean doubtful;
  private boolean ended;
  private long heardNanos;
  private List<ClaimId> followers = List.of();

  ClaimProgress(Claim claim, Bell bell, long nowNanos) {
    this.claim = claim;
    this.bell = bell;
    this.heardNanos = nowNanos;
  }

  /** A sign of life. Answers whether it came within the lease of the one before. */
  synchronized boolean heard(@Nullable Bell latest, long nowNanos) {
    if (latest != null) {
      bell = latest;
    }
    boolean inTime = nowNanos - heardNanos < claim.lease().toNanos();
    heardNanos = nowNanos;
    return inTime;
  }

  /** Nobody has spoken of it for two leases, and a minute. */
  synchronized boolean isForgotten(long nowNanos) {
    long silence = Math.max(2 * claim.lease().toNanos(), 60_000_000_000L);
    return nowNanos - heardNanos > silence;
  }

  void ring(Standing standing) {
    bell.ring(standing);
  }

  /** It is about to be sent to the gate; false where it has ended, and would stay there. */
  synchronized boolean toGate() {
    if (!ended) {
      atGate = true;
      atGateUnanswered++;
    }
    return !ended;
  }

  /**
   * The gate said how it stands.
   *
   * @param standing null where it did not answer, and may have it all the same
   */
  synchronized void gateAnswered(@Nullable Standing standing) {
    atGateUnanswered--;
    gateDoubtful |= standing == null;
    if (standing instanceof Standing.Gone || standing instanceof Standing.OtherKind) {
      atGate = isDoubtfulAtGate();
    }
  }

  /** It is owed that it leaves, and does not come back. */
  synchronized void leftGate() {
    atGate = false;
  }

  synchronized boolean mayBeAtGate() {
    return atGate;
  }

  /** It has ended, and its place there has not. */
  synchronized boolean isLeftAtGate() {
    return ended && atGate;
  }

  synchronized boolean isDoubtfulAtGate() {
    return gateDoubtful || atGateUnanswered > 0;
  }

  /** The gate has let it through: answers true to one caller, who sends it to the truth. */
  synchronized boolean startsForTruth(long nowNanos) {
    boolean starts = !sent && !ended;
    if (starts) {
      sent = true;
      sentNanos = nowNanos;
      answered = new CompletableFuture<>();
    }
    return starts;
  }

  /** At the gate these stood directly behind it when it was let through. */
  synchronized void followedBy(List<ClaimId> claims) {
    followers = claims;
  }

  /** What the truth granted, with its followers at the gate, as far as the tokens go. */
  synchronized Standing.Held leading(Standing.Held granted) {
    int most = (int) Math.min(followers.size(), granted.lastToken() - granted.token());
    return new Standing.Held(granted.token(), granted.lastToken(), followers.subList(0, most));
  }

  /** The claim for as many permits as the truth says that there are; null where it fits anyway. */
  @Nullable Claim fitted(Standing standing) {
    if (standing instanceof Standing.OtherKind other
        && claim.mode() instanceof Mode.Permits permits
        && permits.wanted() <= other.kind().capacity()) {
      return new Claim(
          claim.lock(),
          claim.id(),
          new Mode.Permits(permits.wanted(), other.kind().capacity()),
          claim.lease(),
          claim.minHold(),
          claim.queues(),
          claim.tokens(),
          claim.tokenFloor(),
          claim.unsettled(),
          claim.holder());
    }
    return null;
  }

  /** It ends, and is not sent to the truth any more; false where it was sent already. */
  synchronized boolean endsUnsent() {
    ended |= !sent;
    return !sent;
  }

  /** It is about to be sent to the truth; false where it has ended. */
  synchronized boolean toTruth(long nowNanos) {
    if (ended) {
      answered.complete(null);
      return false;
    }
    sentNanos = sent ? sentNanos : nowNanos;
    sent = true;
    if (unanswered++ == 0 && answered.isDone()) {
      answered = new CompletableFuture<>();
    }
    return true;
  }

  /** Not known yet where it is about to be asked for as many permits as there are. */
  synchronized void truthAnswered(Standing standing) {
    known |= fitted(standing) == null;
    attemptEnded();
  }

  synchronized void truthFailed() {
    doubtful = true;
    attemptEnded();
  }

  private synchronized void attemptEnded() {
    if (--unanswered == 0) {
      answered.complete(null);
    }
  }

  /** Completes, anywhere, when none of its attempts is under way at the truth. */
  synchronized CompletableFuture<Void> answered() {
    return answered;
  }

  /** The truth has said how it stands. */
  synchronized boolean isKnown() {
    return known;
  }

  /** It was sent to the truth, whatever became of it. */
  synchronized boolean isSent() {
    return sent;
  }

  /** A renewal at the truth has found it there. */
  synchronized void found() {
    known = true;
  }

  /** It was not sent to the truth, and may still be. */
  synchronized boolean isWaiting() {
    return !sent && !ended;
  }

  /** The truth did not know it, and has said since how it stands, or is about to. */
  synchronized boolean maySoonBeKnown(long nowNanos) {
    return known || isUnderWay(nowNanos);
  }

  /** The first attempt at the truth is not answered, and not old. */
  synchronized boolean isUnderWay(long nowNanos) {
    return sent && !known && !doubtful && nowNanos - sentNanos < claim.lease().toNanos() / 2;
  }

  /** No attempt goes to the truth from now on, except those that are on their way. */
  synchronized void end() {
    ended = true;
  }

  /** An attempt may still arrive at the truth. */
  synchronized boolean isUnsettled() {
    return doubtful || unanswered > 0;
  }
}
