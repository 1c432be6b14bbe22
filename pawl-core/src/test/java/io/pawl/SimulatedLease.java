package io.pawl;

import io.pawl.error.LeaseLostException;
import io.pawl.spi.Mode;
import java.util.concurrent.CompletableFuture;

/** A lease in a user's hands, with what that user was told about it: promise P5. */
final class SimulatedLease {

  private final History history;
  private final Lease lease;
  private final SimulatedProcess process;
  private final SimulatedTime time;
  private final long lastsUntil;
  private final boolean toldLate;
  private long deadline;
  private int losses;
  private boolean closed;
  private boolean downgrading;
  private boolean closedInTime;
  private boolean evicted;
  private boolean saidUntold;

  /**
   * @param lastsUntil when its shortest hold is over, in the world's time
   * @param toldLate whether callbacks may have to wait for others, which block
   */
  SimulatedLease(
      History history,
      Lease lease,
      SimulatedProcess process,
      SimulatedTime time,
      long lastsUntil,
      boolean toldLate) {
    this.history = history;
    this.lease = lease;
    this.process = process;
    this.time = time;
    this.lastsUntil = lastsUntil;
    this.toldLate = toldLate;
    this.deadline = time.nanos();
    noteDeadline();
    lease.onLost(this::lost);
  }

  String lock() {
    return lease.lock();
  }

  Lease lease() {
    return lease;
  }

  /** An operator took it away: it may be trusted wrongly until its next renewal. */
  void evict() {
    evicted = true;
  }

  boolean claimsValidity() {
    return !closed && !evicted && !lease.remaining().isZero();
  }

  /** Nobody else may have the lock. */
  boolean occupies(long worldNow) {
    return claimsValidity() || (worldNow < lastsUntil && !evicted);
  }

  boolean isOver() {
    return process.isCrashed() ? !claimsValidity() : closed;
  }

  /** Asks as a user would, who waits until he was told: nothing in this world can wait. */
  boolean isValid() {
    boolean valid = toldLate ? lease.loan().isTrusted() : lease.isValid();
    if (!valid && !closed && losses == 0) {
      isUntold("is not valid");
    }
    return valid;
  }

  private void isUntold(String why) {
    if (toldLate) {
      history.untold(this);
    } else {
      history.violation("P5: " + this + " " + why + " and nobody was told");
    }
  }

  boolean wasTold() {
    return losses > 0 || process.isCrashed();
  }

  void write() {
    if (mode() instanceof Mode.Exclusive) {
      history.write(lease, isValid() && !evicted);
    }
  }

  /** A downgrade counts from when it is asked for, since nobody knows when the store does it. */
  Mode mode() {
    return downgrading ? Mode.SHARED : lease.mode();
  }

  void downgrade() {
    if (!closed && !downgrading && isValid()) {
      downgrading = true;
      lease.downgradeAsync();
    }
  }

  void extend() {
    if (!closed && isValid()) {
      lease.extendAsync(lease.remaining().plusMillis(1));
    }
  }

  private CompletableFuture<Void> closeLease() {
    if (!lease.loan().isGivenBackLate()) {
      return lease.closeAsync();
    }
    try {
      lease.close();
      return CompletableFuture.completedFuture(null);
    } catch (LeaseLostException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  CompletableFuture<Void> close() {
    if (closed) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> result = closeLease();
    closedInTime = !history.isLost(result);
    closed = true;
    if (closedInTime && losses > 0) {
      history.violation("P5: " + this + " closed in time, told " + losses);
    } else if (!closedInTime && losses == 0) {
      isUntold("was closed too late");
    }
    return result;
  }

  private void lost() {
    losses++;
    history.lost();
    if (losses > 1) {
      history.violation("P5: " + this + " was told " + losses + " times of its loss");
    }
    if (closedInTime) {
      history.violation("P5: " + this + " was told of a loss after its close");
    }
    if (!toldLate && deadlinePassedWhileRunning()) {
      history.violation("P5: " + this + " was told of its loss after its deadline");
    }
  }

  private boolean deadlinePassedWhileRunning() {
    return time.nanos() > deadline && time.worldTimeOf(deadline) > process.pausedUntil();
  }

  /** After every event. */
  void check(long worldNow) {
    if (closed || process.isCrashed() || worldNow < process.pausedUntil()) {
      return;
    }
    noteDeadline();
    if (losses == 0 && !saidUntold && deadlinePassedWhileRunning()) {
      saidUntold = true;
      isUntold("passed its deadline");
    }
  }

  private void noteDeadline() {
    if (!lease.remaining().isZero()) {
      deadline = time.nanos() + lease.remaining().toNanos();
    }
  }

  @Override
  public String toString() {
    return lease + " for " + lease.remaining();
  }
}
