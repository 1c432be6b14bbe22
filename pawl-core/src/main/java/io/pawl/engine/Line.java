package io.pawl.engine;

import io.pawl.error.LockKindException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The local line of one client for one lock and mode: many requests, few claims at the store. The
 * claims are the line's; a {@link Hold} is lent to one waiter after another.
 *
 * <p><b>A run</b> begins when the store grants a claim and ends when the tokens are used up, the
 * run's time is over, the hold is no longer fresh, or nobody is left. Then the claim is withdrawn,
 * and those still in line ask for a new one, behind whoever waits elsewhere.
 *
 * <p><b>A slice</b> is a part of a run in which speed goes before order. Parking and unparking a
 * thread costs far more than a pass, so a release inside a slice leaves the hold <em>free</em> and
 * calls the head of the line; whoever comes first takes it, often the thread that runs already.
 * After {@link #SLICE_NANOS} a release hands over to the head directly. Nobody is overtaken for
 * longer than a slice per waiter ahead.
 *
 * <p><b>Readers</b> join a hold while its run lasts, and all that are in line join at a grant. A
 * hold that readers may no longer join is given back by the last.
 *
 * <p><b>Strict order</b> is a line of one waiter, with a claim and so a place at the store of its
 * own. When it is granted, the store may name claims of this client that stood directly behind it:
 * their waiters move over, in that order, and are served under the same hold without a trip each;
 * their own claims are withdrawn. Nobody is overtaken, and clients whose threads take turns soon
 * stand in line as blocks.
 *
 * <p>Locking: {@code mutex} guards state; the store, the waiters and users' code are called after
 * it is released.
 */
public final class Line implements LiveClaim.Owner {

  public static final long SLICE_NANOS = 500_000;

  /** So that a store that keeps dropping our place is not asked in a tight loop. */
  private static final long LOST_PLACE_PAUSE_NANOS = 10_000_000;

  /**
   * The pause after which those who still have patience ask anew is that after so many failures.
   */
  private static final int FAILURES_BEFORE = 4;

  private final Engine engine;

  /** Written under the mutex. */
  private volatile LineKey key;

  private final ReentrantLock mutex = new ReentrantLock();
  private final LocalQueue waiters = new LocalQueue();
  private final LineClaims claims;
  private boolean retired;

  /** For a semaphore whose capacity was changed: newcomers ask the store themselves. */
  private boolean aside;

  /** Whether it is going to look whether a waiter has stood for long. */
  private boolean looking;

  /** Whether a waiter may be overdue, and was not told of an answer since. */
  private volatile boolean hasOverdue;

  /** Whether a claim of this line stands in the store's: for the observer. */
  private boolean stands;

  Line(Engine engine, LineKey key) {
    this.engine = engine;
    this.key = key;
    this.claims = new LineClaims(engine, this, key);
  }

  LineKey key() {
    return key;
  }

  /** Whether somebody stands in it; asked from outside, without a lock. */
  boolean isWanted() {
    return waiters.isWanted();
  }

  /** What is wrong with the store, as far as the claims under way know. */
  @Nullable StoreException trouble() {
    mutex.lock();
    try {
      LiveClaim oldest = claims.oldestAsking();
      if (oldest == null) {
        return null;
      }
      StoreException failure = oldest.lastFailure();
      return failure == null && oldest.silentNanos() > 0 ? engine.silentStore() : failure;
    } finally {
      mutex.unlock();
    }
  }

  /** For how long the store has not answered the oldest claim under way; 0 if it has. */
  long silentNanos() {
    mutex.lock();
    try {
      LiveClaim oldest = claims.oldestAsking();
      return oldest == null ? 0 : oldest.silentNanos();
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Takes {@code waiter} in: granted or refused at once, or in line with a claim under way. Answers
   * false where this line is no longer used.
   *
   * @param asks runs what asks the store, if that has to be asked
   */
  boolean enter(Waiter<?> waiter, Executor asks) {
    Steps steps = new Steps();
    mutex.lock();
    try {
      if (retired || aside) {
        return false;
      }
      waiter.standsIn(this);
      Hold open = claims.open(engine.time().nanos());
      if (open != null) {
        lend(open, waiter, steps);
      } else if (!waiter.waits() && claims.wanted(waiters.size() + 1) <= 0) {
        refuse(waiter, steps);
      } else {
        waiters.add(waiter, this);
        if (claims.wanted(waiters.size()) > 0) {
          steps.askHere(claims.makeFresh(waiters.size(), waiter.waits(), waiter.threadName()));
        } else {
          noteWaiting(steps);
          lookLater(LiveClaim.LONGEST_SILENCE_NANOS);
        }
      }
    } finally {
      mutex.unlock();
    }
    steps.take(engine, asks);
    return true;
  }

  private void lookLater(long nanos) {
    if (!looking && key.mode() instanceof Mode.Permits) {
      looking = true;
      engine.time().after(nanos, this::lookBeyond);
    }
  }

  /**
   * Whoever waits for permits behind others of this client alone, with nobody in line at the store,
   * would not be served should the capacity grow: after a while one stands there all the same.
   */
  private void lookBeyond() {
    decide(
        steps -> {
          looking = false;
          Waiter<?> first = waiters.firstThat(true);
          if (first == null) {
            return;
          }
          long left = first.enteredAt() + LiveClaim.LONGEST_SILENCE_NANOS - engine.time().nanos();
          if (left > 0) {
            lookLater(left);
          } else {
            claims.lookBeyond();
            askForMore(steps, 0);
          }
        },
        engine::run);
  }

  /** The semaphore has {@code capacity} permits from now on. */
  void capacityIs(int capacity) {
    decide(
        steps -> {
          if (adopt(capacity)) {
            askForMore(steps, 0);
          }
        },
        engine::run);
    if (engine.isClosed()) {
      close();
    }
  }

  /** Those in line go on, for the capacity that there is; false where it does not fit them. */
  private boolean adopt(int capacity) {
    if (retired
        || !(key.mode() instanceof Mode.Permits known)
        || known.capacity() == capacity
        || known.wanted() > capacity) {
      return false;
    }
    LineKey changed = engine.setAside(key, new Mode.Permits(known.wanted(), capacity), this);
    aside = true;
    key = changed;
    claims.adopt(changed);
    return true;
  }

  /** A waiter that was nudged looks whether a hold still lies free. */
  void takeFreeHold(Waiter<?> waiter) {
    decide(
        steps -> {
          Hold free = waiters.contains(waiter) ? claims.firstFree() : null;
          if (free == null) {
            return;
          }
          long now = engine.time().nanos();
          if (claims.mayPass(free, now)) {
            waiters.remove(waiter);
            free.beginSlice(now);
            lend(free, waiter, steps);
          } else {
            end(free, steps);
          }
        },
        waiter.calls());
  }

  /** A waiter's time is over while the store is silent: it wants to hear of the answer. */
  void noteOverdue() {
    hasOverdue = true;
  }

  @Override
  public void inLine(LiveClaim claim) {
    decide(
        steps -> {
          stands = true;
          noteWaiting(steps);
          hurryOverdue(steps);
        },
        engine::run);
  }

  private void hurryOverdue(Steps steps) {
    if (hasOverdue) {
      hasOverdue = false;
      waiters.overdue(steps);
    }
  }

  /**
   * Takes {@code waiter} out of line; null where its outcome has been decided already. The stage
   * completes when the store knows, at once where nothing has to be told.
   */
  @Nullable CompletableFuture<Void> leave(Waiter<?> waiter) {
    Steps steps = new Steps();
    mutex.lock();
    try {
      if (!waiters.remove(waiter)) {
        return null;
      }
      endNeedless(waiter.waits(), steps);
      endNeedlessHolds(steps);
      waiters.nudge(claims.free(), steps);
      retireIfDone();
    } finally {
      mutex.unlock();
    }
    return steps.take(engine, engine::run);
  }

  private void endNeedless(boolean queueing, Steps steps) {
    LiveClaim needless = claims.removeNeedless(waiters.size(), queueing);
    while (needless != null) {
      steps.end(needless);
      needless = claims.removeNeedless(waiters.size(), queueing);
    }
  }

  /**
   * A loan is given back; the stage completes when the store knows, at once if it was passed on.
   *
   * @param ends runs what tells the store, if that has to be told
   */
  CompletableFuture<Void> release(Loan returned, Hold hold, Executor ends) {
    Steps steps = new Steps();
    mutex.lock();
    try {
      if (!hold.takeBack(returned) || !hold.isFree()) {
        return CompletableFuture.completedFuture(null);
      }
      long now = engine.time().nanos();
      if (hold.isShared() || waiters.isEmpty() || !claims.mayPass(hold, now)) {
        end(hold, steps);
      } else if (hold.isInSlice(now)) {
        waiters.nudge(claims.free(), steps);
      } else {
        hold.beginSlice(now);
        lend(hold, waiters.removeFirst(), steps);
      }
    } finally {
      mutex.unlock();
    }
    return steps.take(engine, ends);
  }

  /** The hold of {@code lease} will be a reader's, so that it is not for this line any more. */
  void drain(Hold hold) {
    decide(
        steps -> {
          hold.drain();
          scatter(steps);
          askForMore(steps, 0);
        },
        engine::run);
  }

  @Override
  public void granted(LiveClaim granted) {
    Steps steps = new Steps();
    Standing.Held tokens = granted.held();
    if (tokens != null) {
      gather(granted, tokens.followers(), steps);
    }
    mutex.lock();
    try {
      if (tokens != null && claims.removeAsking(granted)) {
        stands = false;
        lendToLine(claims.hold(granted, tokens, engine.time().nanos()), steps);
        noteWaiting(steps);
        askForMore(steps, 0);
        hurryOverdue(steps);
      } else {
        steps.end(granted);
      }
    } finally {
      mutex.unlock();
    }
    steps.take(engine, engine::run);
  }

  /** Tells the observer of those in line that have somebody in their way. */
  private void noteWaiting(Steps steps) {
    if (engine.observer().isSilent() || waiters.isEmpty()) {
      return;
    }
    boolean lent = claims.isLent();
    if (lent || stands) {
      steps.waiting(waiters.beginWaiting(), lent);
    }
  }

  private void lendToLine(Hold hold, Steps steps) {
    Waiter<?> first = hold.claim().claim().queues() ? null : waiters.firstThat(false);
    if (first != null) {
      waiters.remove(first);
      lend(hold, first, steps);
    }
    while (hold.hasRoom() && !hold.isUsedUp() && !waiters.isEmpty()) {
      lend(hold, waiters.removeFirst(), steps);
    }
    if (hold.isFree()) {
      end(hold, steps);
    } else {
      claims.noteIfUsedUp(hold);
    }
  }

  /**
   * Takes over the waiters of {@code followers}, whose claims are ended, up to one that cannot be:
   * nobody overtakes it.
   */
  private void gather(LiveClaim leader, List<ClaimId> followers, Steps steps) {
    for (ClaimId follower : followers) {
      Line line = engine.lineOf(follower);
      LiveClaim left = line == null ? null : line.moveTo(this, leader, follower);
      if (left != null) {
        steps.end(left);
      } else if (line != null) {
        break;
      }
    }
  }

  /** The waiter of a strict line moves, unless either side has changed; answers its old claim. */
  private @Nullable LiveClaim moveTo(Line target, LiveClaim leader, ClaimId own) {
    mutex.lock();
    try {
      LiveClaim left = claims.oldestAsking();
      if (left == null || !left.claim().id().equals(own) || waiters.size() != 1) {
        return null;
      }
      if (!target.mutex.tryLock()) {
        return null; // two lines that gather each other's would wait for each other
      }
      try {
        if (target.claims.oldestAsking() != leader
            || !target.key.isLike(key)
            || !claims.gathers()) {
          return null;
        }
        Waiter<?> moved = waiters.removeFirst();
        target.waiters.add(moved, target);
      } finally {
        target.mutex.unlock();
      }
      claims.removeAsking(left);
      retireIfDone();
      return left;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * The hold under which several strict waiters were to be served ends early: all but the first get
   * lines of their own again.
   */
  private void scatter(Steps steps) {
    if (claims.strict() && waiters.size() > 1) {
      Waiter<?> stays = waiters.removeFirst();
      while (!waiters.isEmpty()) {
        engine.lineFor(key).startWith(waiters.removeFirst(), steps);
      }
      waiters.add(stays, this);
    }
  }

  /** A new line that nobody else knows yet gets its waiter. */
  private void startWith(Waiter<?> waiter, Steps steps) {
    mutex.lock();
    try {
      waiters.add(waiter, this);
      askForMore(steps, 0);
    } finally {
      mutex.unlock();
    }
  }

  @Override
  public void refused(LiveClaim refused) {
    decide(
        steps -> {
          if (!claims.removeAsking(refused)) {
            return;
          }
          Waiter<?> impatient = refused.claim().queues() ? null : waiters.firstThat(false);
          if (impatient != null) {
            waiters.remove(impatient);
            impatient.refuse();
            steps.wake(impatient);
            endNeedlessHolds(steps);
          }
          askForMore(steps, refused.claim().queues() ? LOST_PLACE_PAUSE_NANOS : 0);
          retireIfDone();
        },
        engine::run);
  }

  @Override
  public CompletableFuture<Void> lost(LiveClaim lost, String why) {
    return decide(
            steps -> {
              Hold hold = claims.holdOf(lost);
              if (hold != null) {
                claims.lost(hold);
                steps.lose(hold.takeAll(), why);
              } else if (!claims.removeAsking(lost)) {
                return;
              }
              scatter(steps);
              askForMore(steps, 0);
              retireIfDone();
            },
            engine::run)
        .told();
  }

  @Override
  public boolean isForgotten(LiveClaim held) {
    mutex.lock();
    try {
      Hold hold = claims.holdOf(held);
      return hold != null && !hold.isFree() && hold.loans().stream().allMatch(Loan::isForgotten);
    } finally {
      mutex.unlock();
    }
  }

  /** Asked for once more, where that was not done already. */
  @Override
  public void late(LiveClaim late) {
    decide(
        steps -> {
          if (!claims.removeAsking(late)) {
            return;
          }
          Waiter<?> impatient = waiters.firstThat(false);
          if (impatient != null && !impatient.asksAnew()) {
            waiters.remove(impatient);
            turnAway(List.of(impatient), lateException(late), steps);
            endNeedlessHolds(steps);
          }
          askForMore(steps, 0);
          retireIfDone();
        },
        engine::run);
  }

  private StoreUnavailableException lateException(LiveClaim late) {
    return new StoreUnavailableException(
        "lock '"
            + key.name()
            + "': the answer of "
            + engine.store().describe()
            + " took longer than the lease of "
            + late.claim().lease());
  }

  /**
   * Waiters that another claim stands for may still get it, and so may those who came later than
   * the failures began: their patience is not over.
   */
  @Override
  public void failed(LiveClaim failed, RuntimeException cause) {
    decide(
        steps -> {
          boolean fresh = claims.isFresh(failed);
          if (!claims.removeAsking(failed)) {
            return;
          }
          if (!fresh && cause instanceof LockKindException other && adopt(other.capacity())) {
            askForMore(steps, 0);
            return;
          }
          List<Waiter<?>> unserved = waiters.behind(claims.asking());
          if (cause instanceof StoreUnavailableException) {
            long now = engine.time().nanos();
            unserved =
                unserved.stream()
                    .filter(waiter -> now - waiter.enteredAt() >= engine.patienceNanos())
                    .toList();
          }
          unserved.forEach(waiters::remove);
          turnAway(unserved, cause, steps);
          endNeedlessHolds(steps);
          List<Waiter<?>> patient = waiters.behind(claims.asking());
          if (!patient.isEmpty()) {
            askAfterFailures(patient.get(0).enteredAt(), steps);
          }
          retireIfDone();
        },
        engine::run);
  }

  private void askAfterFailures(long patientSince, Steps steps) {
    for (int more = claims.wanted(waiters.size()); more > 0; more--) {
      LiveClaim next = make();
      next.isPatientSince(patientSince);
      steps.ask(next, StoreCalls.pauseNanos(FAILURES_BEFORE, engine.random()));
    }
  }

  /** The client is closing: waiters are turned away, and holders asked to come to an end. */
  void close() {
    List<Loan> lent = new ArrayList<>();
    decide(
        steps -> {
          turnAway(waiters.removeBehind(0), Engine.closedException(key.name()), steps);
          claims.removeAllAsking().forEach(steps::end);
          endNeedlessHolds(steps);
          claims.holds().forEach(hold -> lent.addAll(hold.loans()));
          retireIfDone();
        },
        engine::run);
    lent.forEach(Loan::tellClosing);
  }

  /**
   * What is still held is lost, and left to run out at the store. The stage completes when the
   * holders know.
   */
  CompletableFuture<Void> leaveToRunOut(String why) {
    List<LiveClaim> held = new ArrayList<>();
    decide(steps -> claims.holds().forEach(hold -> held.add(hold.claim())), engine::run);
    return CompletableFuture.allOf(
        held.stream().map(claim -> claim.leaveToRunOut(why)).toArray(CompletableFuture[]::new));
  }

  private Steps decide(Consumer<Steps> decision, Executor calls) {
    Steps steps = new Steps();
    mutex.lock();
    try {
      decision.accept(steps);
    } finally {
      mutex.unlock();
    }
    steps.take(engine, calls);
    return steps;
  }

  private void lend(Hold hold, Waiter<?> waiter, Steps steps) {
    waiter.grant(hold.lend(engine, this));
    steps.wake(waiter);
    if (waiters.isEmpty()) {
      endNeedless(true, steps);
    }
    endNeedlessHolds(steps);
  }

  /** A hold that lies free is for a waiter, who may have got another one meanwhile. */
  private void endNeedlessHolds(Steps steps) {
    while (claims.free() > waiters.size()) {
      end(Objects.requireNonNull(claims.firstFree()), steps);
    }
  }

  /** Busy, unless the claim that stands in the way is struggling with the store itself. */
  private void refuse(Waiter<?> waiter, Steps steps) {
    LiveClaim inTheWay = claims.oldestAsking();
    StoreException trouble = inTheWay == null ? null : inTheWay.lastFailure();
    if (trouble == null) {
      waiter.refuse();
    } else {
      waiter.fail(Waiter.stillFailing(trouble));
    }
    steps.wake(waiter);
  }

  private static void turnAway(List<Waiter<?>> away, RuntimeException cause, Steps steps) {
    for (Waiter<?> waiter : away) {
      waiter.fail(cause);
      steps.wake(waiter);
    }
  }

  /** Gives {@code hold} back, and asks for those in line. */
  private void end(Hold hold, Steps steps) {
    claims.end(hold, !waiters.isEmpty());
    steps.end(hold.claim());
    scatter(steps);
    askForMore(steps, 0);
    retireIfDone();
  }

  private void askForMore(Steps steps, long delayNanos) {
    for (int more = claims.wanted(waiters.size()); more > 0; more--) {
      steps.ask(make(), delayNanos);
    }
  }

  private LiveClaim make() {
    boolean queues = waiters.firstThat(true) != null;
    return claims.make(waiters.size(), queues, waiters.first().threadName());
  }

  private void retireIfDone() {
    if (waiters.isEmpty() && claims.areNone()) {
      retired = true;
      engine.retire(key, this);
    }
  }
}
