package io.pawl.engine;

import io.pawl.concurrent.Durations;
import io.pawl.concurrent.Time;
import io.pawl.concurrent.Timetable;
import io.pawl.error.LockKindException;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's side of one claim, from the first attempt to the confirmed withdrawal: the
 * acquisition state machine. One round trip to take a free lock, one to give it back; a wait costs
 * one attempt and a share of a batched renewal every 2 s or third of a lease, and ends by a bell or
 * by asking again.
 *
 * <p><b>Unknown outcomes.</b> A failed attempt may have been applied, or may still be on its way.
 * It is repeated under the same id, which is harmless; and from then on the claim is
 * <em>doubtful</em>, so that its withdrawal tells the store to refuse whatever of it still arrives.
 * A bell of a claim that was repeated is only a reason to ask: it may tell of a place in the queue
 * that has run out since, whose grant the last sign of life does not cover. So it is where little
 * is left of what the last answer covered, and where a hold has to last: a claim that is not
 * renewed gets its whole lease by asking, and one with a shortest hold is a holder to the store
 * once it was heard of after its grant. A bell that says that a hold is none any more is a reason
 * to renew it at once: it may be late, and tell of what was there before.
 *
 * <p>Locking: {@code mutex} is held for state only, never while the store or the queue is called.
 * The queue may hear of a loss before it hears of the grant, and ignores claims that it has let go.
 */
final class LiveClaim extends Timetable.Entry implements Bell {

  /** A waiter asks at least this often, and so is served this late when its bell was lost: 2 s. */
  static final long LONGEST_SILENCE_NANOS = 2_000_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(LiveClaim.class);

  /** What the {@link Renewer} is to do with a claim whose time has come. */
  enum Duty {
    NOTHING,
    RENEW,
    ASK,
    LOSE
  }

  private enum Status {
    ASKING,
    WAITING,
    HELD,
    ENDED
  }

  private final Engine engine;
  private final LocalQueue queue;
  private volatile Claim claim;
  private final boolean renewal;
  private final long periodNanos;
  private final Withdrawal withdrawal;
  private final Validity validity;
  private final StoreHealth health;

  /** The renewer's note, guarded by its mutex. */
  boolean mayBeSooner;

  private final ReentrantLock mutex = new ReentrantLock();
  private Status status = Status.ASKING;
  private int attempts;
  private int unanswered;
  private boolean doubtful;

  /** The only attempt has reached the store, answered or not. */
  private boolean arrived;

  private boolean renewing;

  /** A bell rang that only a question sent after it can confirm. */
  private boolean hinted;

  /** Whether a bell has ever rung. */
  private boolean rung;

  /** Until when a hold that is not renewed otherwise is, where it was extended. */
  private long extendedUntil;

  private boolean extended;
  private long grantedAt;
  private volatile boolean used;
  private volatile Standing.@Nullable Held held;
  private volatile @Nullable String lossReason;

  /**
   * @param since when it came to be wanted
   */
  LiveClaim(Engine engine, LocalQueue queue, Claim claim, boolean renewal, long since) {
    this.engine = engine;
    this.queue = queue;
    this.claim = claim;
    this.renewal = renewal;
    this.periodNanos = claim.lease().toNanos() / 3;
    this.withdrawal = new Withdrawal(engine, this);
    this.validity = new Validity(claim);
    this.health = new StoreHealth(engine, since);
  }

  Claim claim() {
    return claim;
  }

  LocalQueue queue() {
    return queue;
  }

  long periodNanos() {
    return periodNanos;
  }

  /** Held, and before the local deadline: no round trip. */
  boolean isValid(long now) {
    return held != null && !validity.isOver(now);
  }

  /** Nanoseconds to the local deadline, 0 where it is not held. */
  long remainingNanos(long now) {
    return held == null ? 0 : validity.remainingNanos(now);
  }

  /** Nanoseconds until it is lost unless a renewal is answered, 0 where it is not held. */
  long nanosUntilLoss(long now) {
    return held == null ? 0 : Math.max(0, validity.lossAt() - now);
  }

  /** Nanoseconds since the last answered renewal of a hold was sent; 0 where none is renewed. */
  long ageNanos(long now) {
    return renewal && held != null ? validity.ageNanos(now) : 0;
  }

  /** Whether most of the validity is left, so that the hold is worth passing on. */
  boolean isFresh(long now) {
    return held != null && validity.isFresh(now);
  }

  /** The tokens of the hold, null where there is none. */
  Standing.@Nullable Held held() {
    return held;
  }

  /** The failure that the claim is struggling with. */
  @Nullable StoreException lastFailure() {
    return health.last();
  }

  /**
   * For how long it has been asked and never answered, so that nobody can say "busy"; 0 if it was.
   */
  long silentNanos() {
    return health.silentNanos();
  }

  /** Whether the store has refused its only attempt, of which whoever asked has been told. */
  boolean wasRefused() {
    mutex.lock();
    try {
      StoreException why = health.last();
      boolean refused =
          why instanceof StoreDeniedException || why instanceof StoreConfigurationException;
      return refused && attempts == 1 && unanswered == 0 && health.silentNanos() > 0;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Whether it was granted, which its queue is about to be told, while it counts as asking there.
   */
  boolean isOnItsWay() {
    return held != null;
  }

  /** Asks the store; may do so on the calling thread where the store {@code blocks()}. */
  void ask() {
    long sentAt;
    mutex.lock();
    try {
      if (status == Status.ENDED) {
        return;
      }
      sentAt = engine.time().nanos();
      if (attempts++ == 0) {
        validity.begin(sentAt);
      }
      unanswered++;
      arrived = false;
      hinted = false;
    } finally {
      mutex.unlock();
    }
    String lock = claim.lock();
    StoreCalls.call(
            () -> engine.lateReleases().before(lock, () -> engine.store().attempt(claim, this)))
        .whenComplete((standing, error) -> answered(sentAt, standing, error));
  }

  /** Those for whom it asks have been patient since {@code since} with another, which failed. */
  void continuesFailing(long since, RuntimeException cause) {
    mutex.lock();
    try {
      health.continueFrom(since, cause);
    } finally {
      mutex.unlock();
    }
  }

  /** Asks the store {@code delayNanos} from now. */
  void askAfter(long delayNanos) {
    engine.renewer().watch(this, engine.time().nanos() + delayNanos);
  }

  private void answered(long sentAt, @Nullable Standing standing, @Nullable Throwable error) {
    Runnable report;
    mutex.lock();
    try {
      unanswered--;
      if (status == Status.ENDED) {
        return;
      }
      if (standing == null) {
        doubtful = true;
        if (status == Status.HELD) {
          return;
        }
        report = failing(failure(error), sentAt);
      } else {
        report = stands(standing, sentAt);
      }
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  @Override
  public void ring(Standing standing) {
    Runnable report;
    mutex.lock();
    try {
      if (status == Status.ENDED || attempts == 0) {
        return;
      }
      if (!(standing instanceof Standing.Held)) {
        if (status == Status.HELD) {
          hinted = true;
          engine.renewer().watch(this, engine.time().nanos());
        }
        return;
      }
      rung = true;
      boolean spent = validity.isNearlySpent(engine.time().nanos());
      if (attempts > 1 || spent || !renewal || !claim.minHold().isZero()) {
        if (status != Status.HELD) {
          hinted = true;
          engine.renewer().watch(this, engine.time().nanos());
        }
        return;
      }
      report = stands(standing, validity.coveredFrom());
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  /** The renewal sent at {@code sentAt} was answered, or failed. */
  void renewed(long sentAt, @Nullable Standing standing, @Nullable Throwable error) {
    Runnable report;
    mutex.lock();
    try {
      renewing = false;
      if (status == Status.ENDED) {
        return;
      }
      if (standing != null) {
        if (standing instanceof Standing.Held && status == Status.WAITING && !rung) {
          engine.noteMissedBell();
        }
        report = stands(standing, sentAt);
      } else {
        StoreException cause = error == null ? unanswered() : failure(error);
        report = status == Status.HELD ? renewalFailed(cause, sentAt) : failing(cause, sentAt);
      }
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  private Runnable stands(Standing standing, long sentAt) {
    if (standing instanceof Standing.Held tokens) {
      Runnable report = stillHeld(tokens) ? covered(sentAt) : newlyHeld(tokens, sentAt);
      health.answered(); // last: whoever sees that sees the grant, see isOnItsWay
      return report;
    }
    boolean first = health.answered();
    if (status == Status.HELD) {
      if (standing instanceof Standing.Waiting && sentAt <= grantedAt) {
        validity.coverWaiting(sentAt);
        return trusted();
      }
      return ending("the store no longer knows it: it ran out or was evicted");
    }
    if (standing instanceof Standing.Waiting waiting) {
      boolean news = first || status != Status.WAITING;
      Runnable report = news ? () -> queue.isWaiting(this) : () -> {};
      status = Status.WAITING;
      validity.coverWaiting(sentAt);
      if (hinted) {
        engine.renewer().watch(this, engine.time().nanos());
        return report;
      }
      long silence = Math.min(periodNanos, LONGEST_SILENCE_NANOS);
      long renewBy = sentAt + StoreHealth.jittered(engine, silence);
      long pause = Math.max(SHORTEST_PAUSE_NANOS, Durations.nanos(waiting.askAgain()));
      long askAt = engine.time().nanos() + pause;
      if (askAt - renewBy < 0) {
        engine.renewer().watch(this, askAt);
      } else {
        engine.renewer().renewBy(this, renewBy);
      }
      return report;
    }
    boolean mayHaveBeenHeld = !first; // and linger, or be left at nodes of a quorum
    Runnable finish = doubtful || mayHaveBeenHeld ? withdrawing() : endLocally();
    return () -> {
      engine.run(finish);
      if (standing instanceof Standing.OtherKind other) {
        int asked = claim.mode().capacity();
        int known = other.kind().capacity();
        queue.failed(this, new LockKindException(claim.lock(), known, asked), sentAt);
      } else {
        queue.refused(this);
      }
    };
  }

  private boolean stillHeld(Standing.Held tokens) {
    Standing.Held known = held;
    return status == Status.HELD && known != null && known.isSameAs(tokens);
  }

  private Runnable covered(long sentAt) {
    if (renewal && ageNanos(engine.time().nanos()) > 2 * periodNanos) {
      engine.noteLateRenewal();
    }
    validity.cover(sentAt);
    return trusted();
  }

  private Runnable trusted() {
    validity.trust();
    watchHeld();
    return () -> {};
  }

  private Runnable newlyHeld(Standing.Held tokens, long sentAt) {
    if (status == Status.HELD) {
      return ending("the store granted it anew under token " + tokens.token());
    }
    long now = engine.time().nanos();
    validity.cover(sentAt);
    validity.trust();
    if (validity.isOver(now)) {
      Runnable finish = withdrawing();
      return () -> {
        engine.run(finish);
        if (claim.queues()) {
          queue.refused(this);
        } else {
          withdrawal.confirmed().whenComplete((nothing, error) -> queue.late(this));
        }
      };
    }
    status = Status.HELD;
    hinted = false;
    engine.lifecycle().holdBegun();
    grantedAt = now;
    held = tokens;
    watchHeld();
    return () -> queue.granted(this);
  }

  private void watchHeld() {
    if (hinted) {
      engine.renewer().watch(this, engine.time().nanos());
    } else if (renewal || (extended && validity.isLostBy(extendedUntil))) {
      long renewBy = validity.coveredFrom() + StoreHealth.jittered(engine, periodNanos);
      engine.renewer().renewBy(this, Math.min(validity.lossAt(), renewBy));
    } else {
      engine.renewer().watch(this, validity.lossAt());
    }
  }

  private Runnable failing(StoreException cause, long sentAt) {
    if (!health.failed(cause, sentAt)) {
      Runnable finish = withdrawing();
      return () -> {
        engine.observerLater().storeFailed(claim.lock(), cause);
        queue.failed(this, cause, sentAt);
        engine.run(finish);
      };
    }
    status = Status.ASKING;
    engine.renewer().watch(this, engine.time().nanos() + health.retryNanos());
    return () -> engine.observerLater().storeFailed(claim.lock(), cause);
  }

  private Runnable renewalFailed(StoreException cause, long sentAt) {
    health.failed(cause, sentAt);
    long retry = Math.min(health.retryNanos(), Math.max(SHORTEST_PAUSE_NANOS, periodNanos / 4));
    engine.renewer().watch(this, Math.min(validity.lossAt(), engine.time().nanos() + retry));
    return () -> {
      log.debug("renewal of lock '{}' failed, trying again", claim.lock(), cause);
      engine.observerLater().storeFailed(claim.lock(), cause);
    };
  }

  /** What to do now that the time has come for which the renewer watched this claim. */
  Duty duty(long now) {
    mutex.lock();
    try {
      switch (status) {
        case ASKING:
          return unanswered > 0 ? Duty.NOTHING : Duty.ASK;
        case WAITING:
          return startRenewal();
        case HELD:
          if (now - validity.lossAt() >= 0) {
            return Duty.LOSE;
          }
          engine.renewer().watch(this, validity.lossAt());
          return startRenewal();
        default:
          return Duty.NOTHING;
      }
    } finally {
      mutex.unlock();
    }
  }

  private Duty startRenewal() {
    if (renewing) {
      return Duty.NOTHING;
    }
    renewing = true;
    hinted = false;
    return Duty.RENEW;
  }

  /**
   * Lets a hold run out that is due for renewal although nobody can reach it any more; false for
   * any other claim.
   */
  boolean endsForgotten() {
    if (held == null || !queue.drainIfForgotten(this)) {
      return false;
    }
    log.warn(
        "lock '{}': its lease was dropped without being closed; it is not renewed any more and"
            + " runs out. Keep the Lease object, and close it",
        claim.lock());
    leaveToRunOut("nobody can reach the lease any more");
    return true;
  }

  /** Ends the hold because its deadline passes; not if a renewal was answered in the meantime. */
  void loseIfDue() {
    lose(whyLost(), () -> engine.time().nanos() - validity.lossAt() >= 0);
  }

  /** Ends the hold: it cannot be trusted any more. */
  void lose(String why) {
    lose(why, () -> true);
  }

  private void lose(String why, BooleanSupplier isLost) {
    Runnable report;
    mutex.lock();
    try {
      if (status != Status.HELD || !isLost.getAsBoolean()) {
        return;
      }
      report = ending(why);
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  /**
   * Makes an exclusive hold a shared one, without a gap. The stage answers whether it is held
   * still, or fails where the store did, which leaves it open whether others may share the hold by
   * now.
   */
  CompletableFuture<Boolean> downgrade() {
    long sentAt;
    Claim reader = claim.as(Mode.SHARED);
    mutex.lock();
    try {
      if (status != Status.HELD) {
        return CompletableFuture.completedFuture(false);
      }
      sentAt = engine.time().nanos();
      unanswered++;
    } finally {
      mutex.unlock();
    }
    return StoreCalls.call(() -> engine.store().attempt(reader, this))
        .handle(
            (standing, error) -> {
              if (standing instanceof Standing.Held) {
                claim = reader;
              }
              answered(sentAt, standing, error);
              if (standing == null) {
                throw failure(error);
              }
              return held != null;
            })
        .toCompletableFuture();
  }

  /**
   * Renews the hold now, and goes on until it is covered up to {@code until}. The stage answers
   * whether it is held still, or fails where the store did.
   */
  CompletableFuture<Boolean> extend(long until) {
    long sentAt;
    mutex.lock();
    try {
      if (status != Status.HELD) {
        return CompletableFuture.completedFuture(false);
      }
      extendedUntil = extended ? Math.max(extendedUntil, until) : until;
      extended = true;
      sentAt = engine.time().nanos();
    } finally {
      mutex.unlock();
    }
    return StoreCalls.call(() -> engine.store().renew(List.of(claim)))
        .handle(
            (standings, error) -> {
              Standing standing = standings == null ? null : standings.get(claim.id());
              renewed(sentAt, standing, error);
              if (standing == null) {
                throw error == null ? unanswered() : failure(error);
              }
              return held != null;
            })
        .toCompletableFuture();
  }

  /** Why the hold is lost, or, as it stands, would be. */
  String whyLost() {
    String known = lossReason;
    if (known != null) {
      return known;
    }
    StoreException cause = health.last();
    String what = "its deadline passed before a renewal was answered";
    return cause == null ? what : what + "; the last one failed: " + cause.getMessage();
  }

  private Runnable ending(String why) {
    lossReason = why;
    long runsOutAt = validity.runsOutAt();
    Runnable finish = withdrawing();
    return () -> withdrawAfter(queue.lost(this, why), runsOutAt, finish);
  }

  /** The holders hear first. One who does not return delays nobody for longer than the lease. */
  private void withdrawAfter(CompletableFuture<Void> told, long runsOutAt, Runnable finish) {
    if (told.isDone()) {
      engine.run(finish);
      return;
    }
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (!begun.getAndSet(true)) {
            engine.run(finish);
          }
        };
    long left = Math.max(0, runsOutAt - engine.time().nanos());
    Time.Pending atLast = engine.time().after(left, once);
    told.thenRun(
        () -> {
          atLast.cancel();
          once.run();
        });
  }

  /**
   * Gives the hold or the place in the queue back.
   *
   * @return what tells the store; empty where it has ended before
   */
  Optional<Runnable> end() {
    mutex.lock();
    try {
      return status == Status.ENDED ? Optional.empty() : Optional.of(withdrawing());
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Of its end. Completes when the store has confirmed it, or exceptionally when it could not be
   * told before the claim ran out there anyway.
   */
  CompletableFuture<Void> confirmed() {
    return withdrawal.confirmed();
  }

  private Runnable endLocally() {
    markEnded();
    return withdrawal::confirm;
  }

  /** The client has ended for good: what the store has not confirmed by now runs out there. */
  void abandon() {
    withdrawal.giveUp(
        new StoreUnavailableException(
            "lock '" + claim.lock() + "': the client was closed before the store had answered"));
  }

  /** A hold under which nobody has worked is not worth a shortest hold. */
  private Runnable withdrawing() {
    Claim gone = used ? claim : claim.withMinHold(Duration.ZERO);
    markEnded();
    if (attempts == 0) {
      return withdrawal::confirm;
    }
    boolean mayStillArrive = doubtful || (unanswered > 0 && !arrived);
    return withdrawal.of(mayStillArrive ? gone.asUnsettled() : gone);
  }

  /**
   * The store has named it as one that waits there: an attempt that was the only one is no longer
   * on its way, where none arrives twice.
   */
  void isNamed() {
    mutex.lock();
    try {
      arrived = attempts == 1 && engine.store().attemptsArriveOnce();
    } finally {
      mutex.unlock();
    }
  }

  /** Whether somebody has it under a lease of his own, or had. */
  void use(boolean inUse) {
    used = inUse;
  }

  boolean isUsed() {
    return used;
  }

  /**
   * Ends the hold without telling the store, where it runs out; nothing if it is not held. The
   * stage completes when the holders know.
   */
  CompletableFuture<Void> leaveToRunOut(String why) {
    mutex.lock();
    try {
      if (status != Status.HELD) {
        return CompletableFuture.completedFuture(null);
      }
      lossReason = why;
      markEnded();
    } finally {
      mutex.unlock();
    }
    withdrawal.confirm();
    return queue.lost(this, why);
  }

  private void markEnded() {
    boolean wasHeld = status == Status.HELD;
    status = Status.ENDED;
    held = null;
    engine.renewer().forget(this);
    if (wasHeld) {
      engine.lifecycle().holdEnded();
    }
  }

  private StoreException unanswered() {
    return new StoreUnavailableException("the store said nothing of claim " + claim.id());
  }

  private StoreException failure(@Nullable Throwable error) {
    return StoreCalls.asStoreException("lock '" + claim.lock() + "'", engine.store(), error);
  }
}
