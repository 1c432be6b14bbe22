package io.pawl;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's side of one claim, from the first attempt to the confirmed withdrawal: the
 * acquisition state machine. One round trip to take a free lock, one to give it back; a wait costs
 * one attempt and a share of a batched renewal per third of a lease, and ends by a bell or by
 * asking again.
 *
 * <p><b>The local deadline.</b> The store keeps a claim for its lease from the moment at which it
 * read a request, which is later than the moment at which the request was sent. Hence a hold may be
 * trusted until {@code coveredFrom + validNanos}, where {@code coveredFrom} is the time just before
 * the last <em>answered</em> attempt or renewal was sent, and {@code validNanos} is the lease less
 * {@link #DRIFT} and {@link #MARGIN_NANOS}. A grant that comes by bell needs no further question:
 * the store grants a waiter until the deadline of its last sign of life.
 *
 * <p><b>Unknown outcomes.</b> A failed attempt may have been applied, or may still be on its way.
 * It is repeated under the same id, which is harmless; and from then on the claim is
 * <em>doubtful</em>, so that its withdrawal tells the store to refuse whatever of it still arrives.
 * A bell of a claim that was repeated is only a reason to ask: it may tell of a place in line that
 * has run out since, whose grant the last sign of life does not cover.
 *
 * <p>Locking: {@code mutex} is held for state only, never while the store or the owner is called.
 * The owner may hear of a loss before it hears of the grant, and ignores claims that it has let go.
 */
final class LiveClaim implements Bell, Comparable<LiveClaim> {

  /** How much faster than ours a store's clock may run: 1 %. */
  static final double DRIFT = 0.01;

  /** Taken off every lease beside the drift, for stores that count whole milliseconds: 2 ms. */
  static final long MARGIN_NANOS = 2_000_000;

  /** A waiter asks at least this often, and so is served this late when its bell was lost: 2 s. */
  static final long LONGEST_SILENCE_NANOS = 2_000_000_000L;

  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;

  private static final Logger log = LoggerFactory.getLogger(LiveClaim.class);

  /** Whom a claim reports to; called without any lock held. All but a grant end the claim. */
  interface Owner {

    /** It is held now. */
    void granted(LiveClaim claim);

    /** It is neither held nor in line, without fault: busy, or its place was dropped. */
    void refused(LiveClaim claim);

    /** It was held and can no longer be trusted. */
    void lost(LiveClaim claim, String why);

    /**
     * The store failed for good, or for longer than the client's patience; or the lock is of
     * another kind.
     */
    void failed(LiveClaim claim, RuntimeException cause);
  }

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
  private final Owner owner;
  private final Claim claim;
  private final boolean renewal;
  private final long minHoldNanos;
  private final long validNanos;
  private final long periodNanos;
  private final CompletableFuture<Void> withdrawn = new CompletableFuture<>();

  /** The renewer's notes, guarded by its mutex. */
  long dueNanos;

  boolean mayBeSooner;
  boolean watched;

  private final ReentrantLock mutex = new ReentrantLock();
  private Status status = Status.ASKING;
  private int attempts;
  private int unanswered;
  private boolean doubtful;
  private boolean renewing;

  /** A bell rang that only a question sent after it can confirm. */
  private boolean hinted;

  private long coveredFrom;
  private long grantedAt;
  private int failures;
  private long failingSince;
  private boolean wantsWholeLease;
  private volatile long silentSince;
  private volatile boolean silent;
  private volatile @Nullable StoreException lastFailure;
  private volatile Standing.@Nullable Held held;
  private volatile @Nullable String lossReason;
  private volatile long deadline;

  LiveClaim(Engine engine, Owner owner, Claim claim, boolean renewal, Duration minHold) {
    this.engine = engine;
    this.owner = owner;
    this.claim = claim;
    this.renewal = renewal;
    this.minHoldNanos = minHold.toNanos();
    long leaseNanos = claim.lease().toNanos();
    this.validNanos = leaseNanos - (long) (leaseNanos * DRIFT) - MARGIN_NANOS;
    this.periodNanos = leaseNanos / 3;
  }

  Claim claim() {
    return claim;
  }

  Owner owner() {
    return owner;
  }

  long periodNanos() {
    return periodNanos;
  }

  /** Held, and before the local deadline: no round trip. */
  boolean isValid(long now) {
    return held != null && now - deadline < 0;
  }

  /** Nanoseconds to the local deadline, 0 where it is not held. */
  long remainingNanos(long now) {
    return held == null ? 0 : Math.max(0, deadline - now);
  }

  /** Whether most of the validity is left, so that the hold is worth passing on. */
  boolean isFresh(long now) {
    return held != null && deadline - now > validNanos / 3;
  }

  /** The tokens of the hold, null where there is none. */
  Standing.@Nullable Held held() {
    return held;
  }

  /** The failure that the claim is struggling with. */
  @Nullable StoreException lastFailure() {
    return lastFailure;
  }

  /**
   * For how long it has been asked and never answered, so that nobody can say "busy"; 0 if it was.
   */
  long silentNanos() {
    return silent ? Math.max(1, engine.time().nanos() - silentSince) : 0;
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
        coveredFrom = sentAt;
        silentSince = sentAt;
        silent = true;
      }
      unanswered++;
      hinted = false;
    } finally {
      mutex.unlock();
    }
    StoreCalls.call(() -> engine.store().attempt(claim, this))
        .whenComplete((standing, error) -> answered(sentAt, standing, error));
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
        report = failing(asStoreException(error));
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
      if (!(standing instanceof Standing.Held) || status == Status.ENDED || attempts == 0) {
        return;
      }
      if (attempts > 1) {
        if (status != Status.HELD) {
          hinted = true;
          engine.renewer().watch(this, engine.time().nanos());
        }
        return;
      }
      report = stands(standing, coveredFrom);
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
        report = stands(standing, sentAt);
      } else {
        StoreException cause =
            error == null
                ? new StoreUnavailableException("the store said nothing of claim " + claim.id())
                : asStoreException(error);
        report = status == Status.HELD ? renewalFailed(cause) : failing(cause);
      }
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  private Runnable stands(Standing standing, long sentAt) {
    failures = 0;
    lastFailure = null;
    silent = false;
    if (standing instanceof Standing.Held tokens) {
      return stillHeld(tokens) ? covered(sentAt) : newlyHeld(tokens, sentAt);
    }
    if (status == Status.HELD) {
      if (standing instanceof Standing.Waiting && sentAt <= grantedAt) {
        return covered(sentAt);
      }
      return ending("the store no longer knows it: it ran out or was evicted");
    }
    if (standing instanceof Standing.Waiting waiting) {
      status = Status.WAITING;
      coveredFrom = Math.max(coveredFrom, sentAt);
      if (hinted) {
        engine.renewer().watch(this, engine.time().nanos());
        return () -> {};
      }
      long silence = Math.min(periodNanos, LONGEST_SILENCE_NANOS);
      long renewBy = coveredFrom + jittered(silence);
      long pause = Math.max(SHORTEST_PAUSE_NANOS, Durations.nanos(waiting.askAgain()));
      long askAt = engine.time().nanos() + pause;
      if (askAt - renewBy < 0) {
        engine.renewer().watch(this, askAt);
      } else {
        engine.renewer().renewBy(this, renewBy);
      }
      return () -> {};
    }
    Runnable finish = doubtful ? withdrawing() : endLocally();
    return () -> {
      engine.run(finish);
      if (standing instanceof Standing.OtherKind other) {
        Kind asked = new Kind(claim.mode().capacity());
        owner.failed(this, new LockKindException(claim.lock(), other.kind(), asked));
      } else {
        owner.refused(this);
      }
    };
  }

  private boolean stillHeld(Standing.Held tokens) {
    Standing.Held known = held;
    return status == Status.HELD && known != null && known.isSameAs(tokens);
  }

  private Runnable covered(long sentAt) {
    coveredFrom = Math.max(coveredFrom, sentAt);
    deadline = coveredFrom + validNanos;
    wantsWholeLease = false;
    watchHeld();
    return () -> {};
  }

  private Runnable newlyHeld(Standing.Held tokens, long sentAt) {
    if (status == Status.HELD) {
      return ending("the store granted it anew under token " + tokens.token());
    }
    long now = engine.time().nanos();
    coveredFrom = Math.max(coveredFrom, sentAt);
    deadline = coveredFrom + validNanos;
    if (now - deadline >= 0) {
      Runnable finish = withdrawing();
      return () -> {
        engine.run(finish);
        if (claim.queues()) {
          owner.refused(this);
        } else {
          owner.failed(
              this,
              new StoreUnavailableException(
                  "lock '"
                      + claim.lock()
                      + "': the answer of "
                      + engine.store().describe()
                      + " took longer than the lease of "
                      + claim.lease()));
        }
      };
    }
    wantsWholeLease = (!renewal || minHoldNanos > 0) && status == Status.WAITING;
    status = Status.HELD;
    grantedAt = now;
    held = tokens;
    watchHeld();
    return () -> owner.granted(this);
  }

  private void watchHeld() {
    if (wantsWholeLease) {
      engine.renewer().watch(this, grantedAt); // part of it has passed in line
    } else if (renewal) {
      engine.renewer().renewBy(this, Math.min(lossAt(), coveredFrom + jittered(periodNanos)));
    } else {
      engine.renewer().watch(this, lossAt());
    }
  }

  private Runnable failing(StoreException cause) {
    long now = engine.time().nanos();
    if (failures++ == 0) {
      failingSince = now;
    }
    lastFailure = cause;
    boolean patient = now - failingSince < engine.patienceNanos();
    if (!patient || !(cause instanceof StoreUnavailableException)) {
      Runnable finish = withdrawing();
      return () -> {
        engine.observer().storeFailed(claim.lock(), cause);
        owner.failed(this, cause);
        engine.run(finish);
      };
    }
    status = Status.ASKING;
    engine.renewer().watch(this, now + retryNanos());
    return () -> engine.observer().storeFailed(claim.lock(), cause);
  }

  private Runnable renewalFailed(StoreException cause) {
    failures++;
    lastFailure = cause;
    long retry = Math.min(retryNanos(), Math.max(SHORTEST_PAUSE_NANOS, periodNanos / 4));
    engine.renewer().watch(this, Math.min(lossAt(), engine.time().nanos() + retry));
    return () -> {
      log.debug("renewal of lock '{}' failed, trying again", claim.lock(), cause);
      engine.observer().storeFailed(claim.lock(), cause);
    };
  }

  private long retryNanos() {
    return StoreCalls.pauseNanos(failures, engine.random());
  }

  private long jittered(long nanos) {
    return (long) (nanos * (0.9 + 0.1 * engine.random().nextDouble()));
  }

  /** Shortly before the deadline, so that the loss is told by then. */
  private long lossAt() {
    return deadline - Math.min(validNanos / 50, 20_000_000);
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
          if (now - lossAt() >= 0) {
            return Duty.LOSE;
          }
          engine.renewer().watch(this, lossAt());
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

  /** Ends the hold because its deadline passes; not if a renewal was answered in the meantime. */
  void loseIfDue() {
    if (engine.time().nanos() - lossAt() >= 0) {
      lose(whyLost());
    }
  }

  /** Ends the hold: it cannot be trusted any more. */
  void lose(String why) {
    Runnable report;
    mutex.lock();
    try {
      if (status != Status.HELD) {
        return;
      }
      report = ending(why);
    } finally {
      mutex.unlock();
    }
    report.run();
  }

  /** Why the hold is lost, or, as it stands, would be. */
  String whyLost() {
    String known = lossReason;
    if (known != null) {
      return known;
    }
    StoreException cause = lastFailure;
    String what = "its deadline passed before a renewal was answered";
    return cause == null ? what : what + "; the last one failed: " + cause.getMessage();
  }

  private Runnable ending(String why) {
    lossReason = why;
    Runnable finish = withdrawing();
    return () -> {
      owner.lost(this, why);
      engine.run(finish);
    };
  }

  /**
   * Gives the hold or the place in line back. Idempotent. The stage completes when the store has
   * confirmed it, or exceptionally when it could not be told before the claim ran out there anyway.
   *
   * @param thread runs what tells the store
   */
  CompletableFuture<Void> end(Executor thread) {
    Runnable finish;
    mutex.lock();
    try {
      if (status == Status.ENDED) {
        return withdrawn;
      }
      finish = withdrawing();
    } finally {
      mutex.unlock();
    }
    thread.execute(finish);
    return withdrawn;
  }

  private Runnable endLocally() {
    markEnded();
    return this::confirmEnd;
  }

  /**
   * A hold that is to last longer stays at the store, whose lease covers it: until a timer gives it
   * back, or, once this client is closed or dead, until it runs out.
   */
  private Runnable withdrawing() {
    long now = engine.time().nanos();
    long staysNanos = held == null ? 0 : Math.max(0, grantedAt + minHoldNanos - now);
    markEnded();
    if (attempts == 0) {
      return this::confirmEnd;
    }
    Claim gone = doubtful || unanswered > 0 ? claim.asUnsettled() : claim;
    long runsOutAt = now + staysNanos + claim.lease().toNanos();
    Runnable withdrawal = () -> withdraw(gone, runsOutAt, 1);
    if (staysNanos == 0) {
      return withdrawal;
    }
    return () -> {
      confirmEnd();
      engine.time().after(staysNanos, () -> engine.run(withdrawal));
    };
  }

  /** Ends the hold without telling the store, where it runs out. */
  void leaveToRunOut(String why) {
    mutex.lock();
    try {
      if (status != Status.HELD) {
        return;
      }
      lossReason = why;
      markEnded();
    } finally {
      mutex.unlock();
    }
    owner.lost(this, why);
    confirmEnd();
  }

  private void markEnded() {
    status = Status.ENDED;
    held = null;
    engine.renewer().forget(this);
  }

  private void confirmEnd() {
    engine.ended(this);
    withdrawn.complete(null);
  }

  private void withdraw(Claim gone, long runsOutAt, int tries) {
    StoreCalls.call(() -> engine.store().withdraw(gone))
        .whenComplete(
            (nothing, error) -> {
              if (error == null) {
                confirmEnd();
                return;
              }
              StoreException cause = asStoreException(error);
              engine.observer().storeFailed(gone.lock(), cause);
              boolean useful = engine.time().nanos() < runsOutAt && engine.retriesWithdrawals();
              if (useful && cause instanceof StoreUnavailableException) {
                Runnable retry = () -> engine.run(() -> withdraw(gone, runsOutAt, tries + 1));
                engine.time().after(StoreCalls.pauseNanos(tries, engine.random()), retry);
              } else {
                log.warn("lock '{}' was not given back and will run out", gone.lock(), cause);
                engine.ended(this);
                withdrawn.completeExceptionally(cause);
              }
            });
  }

  private StoreException asStoreException(@Nullable Throwable error) {
    return StoreCalls.asStoreException("lock '" + claim.lock() + "'", engine.store(), error);
  }

  @Override
  public int compareTo(LiveClaim other) {
    int byDue = Long.compare(dueNanos - other.dueNanos, 0);
    return byDue != 0 ? byDue : claim.id().compareTo(other.claim.id());
  }
}
