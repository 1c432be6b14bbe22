package io.pawl.engine;

import io.pawl.error.LockKindException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The local queue of one client for one lock and mode: many requests, few claims at the store. The
 * claims are the queue's; a {@link Hold} is lent to one waiter after another.
 *
 * <p><b>A run</b> begins when the store grants a claim and ends when the tokens are used up, the
 * run's time is over, the hold is no longer fresh, or nobody is left. Then the claim is withdrawn,
 * and those still in the queue ask for a new one, behind whoever waits elsewhere.
 *
 * <p><b>A slice</b> is a part of a run in which speed goes before order. Parking and unparking a
 * thread costs far more than a pass, so a release inside a slice leaves the hold <em>free</em> and
 * calls the head of the queue; whoever comes first takes it, often the thread that runs already.
 * After {@link #SLICE_NANOS} a release hands over to the head directly. Nobody is overtaken for
 * longer than a slice per waiter ahead.
 *
 * <p><b>A sticky hold</b> stays free when nobody waits, for the next that comes, for a time from
 * the first such release on. When its tokens are used up it stays as well, and whoever comes next
 * gives it back and asks for more: so its owner's releases cost no trip, and the queue remembers
 * how many tokens to ask for.
 *
 * <p><b>Readers</b> join a hold while its run lasts, and all that are in the queue join at a grant.
 * A hold that readers may no longer join is given back by the last.
 *
 * <p><b>Strict order</b> is a queue of one waiter, with a claim and so a place at the store of its
 * own, or of a {@link StrictBlock}.
 *
 * <p>Locking: {@code mutex} guards state; the store, the waiters and users' code are called after
 * it is released.
 */
public final class LocalQueue {

  public static final long SLICE_NANOS = 500_000;

  /** So that a store that keeps dropping our place is not asked in a tight loop. */
  private static final long LOST_PLACE_PAUSE_NANOS = 10_000_000;

  /**
   * The pause after which those who still have patience ask anew is that after so many failures.
   */
  private static final int FAILURES_BEFORE = 4;

  private static final Logger log = LoggerFactory.getLogger(LocalQueue.class);

  private final Engine engine;

  /** Written under the mutex. */
  private volatile QueueKey key;

  final ReentrantLock mutex = new ReentrantLock();
  final Waiters waiters = new Waiters();
  final QueueClaims claims;
  private boolean retired;

  /** For a semaphore whose capacity was changed: newcomers ask the store themselves. */
  private boolean aside;

  /** Whether it is going to look whether a waiter has stood for long. */
  private boolean looking;

  /** Whether a waiter may be overdue, and was not told of an answer since. */
  private volatile boolean hasOverdue;

  /** Whether a claim of this queue stands in the store's: for the observer. */
  private boolean stands;

  LocalQueue(Engine engine, QueueKey key) {
    this.engine = engine;
    this.key = key;
    this.claims = new QueueClaims(engine, this, key);
  }

  QueueKey key() {
    return key;
  }

  /** Whether somebody stands in it; asked from outside, without a lock. */
  boolean isWanted() {
    return waiters.isWanted();
  }

  /**
   * How the store has treated the oldest claim under way, which may be another one a moment later.
   *
   * @param silentNanos for how long it has not answered, as far as this queue knows; 0 if it has,
   *     or if there is none
   * @param failure that it is struggling with
   */
  record Reply(long silentNanos, @Nullable StoreException failure) {}

  Reply reply() {
    mutex.lock();
    try {
      LiveClaim oldest = claims.oldestAsking();
      if (oldest == null) {
        return new Reply(0, null);
      }
      long silent = oldest.silentNanos();
      return new Reply(oldest.isOnItsWay() ? Math.max(1, silent) : silent, oldest.lastFailure());
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Takes {@code waiter} in: granted or refused at once, or in the queue with a claim under way.
   *
   * @param effects what is to be done then, also where this fails
   * @return false where this queue is no longer used
   */
  boolean enter(Waiter<?> waiter, Effects effects) {
    mutex.lock();
    try {
      if (retired || aside) {
        return false;
      }
      waiter.isIn(this);
      Hold open = claims.open(engine.time(), waiters.isEmpty());
      if (open == null && waiters.isEmpty()) {
        endSpent(effects);
      }
      if (open != null) {
        lend(open, waiter, effects);
        askForMore(effects, 0); // for whom it overtakes, where there was none for that one to ask
      } else if (!waiter.waits() && claims.wanted(waiters.size() + 1) <= 0) {
        refuse(waiter, effects);
      } else {
        queue(waiter, effects);
      }
      return true;
    } finally {
      mutex.unlock();
    }
  }

  private void queue(Waiter<?> waiter, Effects effects) {
    LiveClaim made = null;
    waiters.add(waiter, this);
    try {
      if (claims.wanted(waiters.size()) > 0) {
        made = claims.makeFresh(waiters.size(), waiter.waits(), waiter.asker(), waiter.enteredAt());
        effects.askHere(made);
      } else {
        waiter.goOn();
        noteWaiting(effects);
        lookLater(LiveClaim.LONGEST_SILENCE_NANOS);
      }
    } catch (RuntimeException | Error e) { // of memory: nobody waits, nor asks for anything
      waiters.remove(waiter);
      if (made != null) {
        claims.removeAsking(made);
        effects.end(made);
      }
      retireIfDone();
      throw e;
    }
  }

  /** A hold that was kept, and is of no use for whoever comes now: he asks for another. */
  private void endSpent(Effects effects) {
    Hold spent = claims.firstFree();
    if (spent != null) {
      claims.end(spent, true);
      effects.end(spent.claim());
    }
  }

  private void lookLater(long nanos) {
    if (!looking && key.mode() instanceof Mode.Permits) {
      engine.time().after(nanos, this::lookBeyond);
      looking = true;
    }
  }

  /**
   * Whoever waits for permits behind others of this client alone, with nobody in the queue at the
   * store, would not be served should the capacity grow: after a while one stands there all the
   * same.
   */
  private void lookBeyond() {
    decide(
        effects -> {
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
            askForMore(effects, 0);
          }
        },
        false);
  }

  /** The semaphore has {@code capacity} permits from now on. */
  void capacityIs(int capacity) {
    decide(
        effects -> {
          if (adopt(capacity, claims.standing())) {
            askForMore(effects, 0);
            retireIfDone(); // whoever was about to come first asks in another one
          }
        },
        false);
    if (engine.lifecycle().isClosed()) {
      close();
    }
  }

  /**
   * Those in the queue go on, for the capacity that there is; false where it does not fit them, or
   * they have to end: whoever goes through all queues then may pass over one whose key changes.
   *
   * @param standing how many came before those whose claims have just been made: a smaller capacity
   *     may have no room for claims of theirs from now on
   */
  private boolean adopt(int capacity, int standing) {
    if (retired
        || engine.lifecycle().isClosed()
        || !(key.mode() instanceof Mode.Permits known)
        || known.capacity() == capacity
        || known.wanted() > capacity) {
      return false;
    }
    QueueKey changed =
        engine.registry().setAside(key, new Mode.Permits(known.wanted(), capacity), this);
    aside = true;
    key = changed;
    claims.adopt(changed);
    waiters.goOn(standing);
    lookLater(LiveClaim.LONGEST_SILENCE_NANOS); // not all of them need have a claim from now on
    return true;
  }

  /** Whether {@code claim} is of the capacity that this queue had until it adopted this one. */
  private boolean wasMadeBefore(int capacity, LiveClaim claim) {
    return key.mode() instanceof Mode.Permits known
        && claim.claim().mode() instanceof Mode.Permits asked
        && known.capacity() == capacity
        && asked.capacity() != capacity
        && known.wanted() <= capacity;
  }

  /**
   * A waiter that was nudged looks whether a hold still lies free; nothing if it is not in here.
   */
  void takeFreeHold(Waiter<?> waiter) {
    decide(
        effects -> {
          if (!waiters.contains(waiter)) {
            return;
          }
          waiter.looks();
          Hold free = claims.firstFree();
          long now = engine.time().nanos();
          while (free != null && !claims.mayPass(free, now)) {
            end(free, effects);
            free = claims.firstFree();
          }
          if (free != null) {
            waiters.remove(waiter);
            free.beginSlice(now);
            lend(free, waiter, effects);
          }
        },
        waiter.mayBlock());
  }

  /** A waiter's time is over while the store is silent: it wants to hear of the answer. */
  void noteOverdue() {
    hasOverdue = true;
  }

  void isWaiting(LiveClaim claim) {
    decide(
        effects -> {
          stands = true;
          claims.hasPlace(claim);
          refuseImpatient(effects);
          noteWaiting(effects);
          hurryOverdue(effects);
        },
        false);
  }

  /** Others are in the way of those that do not wait, unless a claim that does not either asks. */
  private void refuseImpatient(Effects effects) {
    List<Waiter<?>> impatient = waiters.impatientBehind(claims.askingImpatiently());
    for (Waiter<?> waiter : impatient) {
      waiters.remove(waiter);
      waiter.refuse();
      effects.wake(waiter);
    }
    if (!impatient.isEmpty()) {
      settle(true, effects);
    }
  }

  private void hurryOverdue(Effects effects) {
    if (hasOverdue) {
      hasOverdue = false;
      waiters.overdue(effects);
    }
  }

  /**
   * Takes {@code waiter} out of the queue; null where its outcome has been decided already. The
   * stage completes when the store knows, at once where nothing has to be told.
   */
  @Nullable CompletableFuture<Void> leave(Waiter<?> waiter) {
    CompletableFuture<Void> gone;
    Effects effects = new Effects();
    mutex.lock();
    try {
      if (!waiters.remove(waiter)) {
        return null;
      }
      settle(waiter.waits(), effects);
      gone = effects.ended();
      waiter.leaves(gone);
    } finally {
      mutex.unlock();
    }
    effects.perform(engine, false);
    return gone;
  }

  /**
   * Waiters have been served or have gone: those that are left are called to what lies free, and
   * what nobody is left for ends. Whoever was called before may be among those that have gone.
   *
   * @param queueing whether claims that queue are to end first
   */
  private void settle(boolean queueing, Effects effects) {
    endNeedless(queueing, effects);
    endNeedlessHolds(effects);
    waiters.nudge(claims.free(), effects);
    retireIfDone();
  }

  private void endNeedless(boolean queueing, Effects effects) {
    LiveClaim needless = claims.removeNeedless(waiters.size(), queueing);
    while (needless != null) {
      effects.end(needless);
      needless = claims.removeNeedless(waiters.size(), queueing);
    }
  }

  /**
   * A loan is given back: its hold is passed on, or ends.
   *
   * @return what is to be done then
   */
  Effects release(Loan returned, Hold hold) {
    Effects effects = new Effects();
    mutex.lock();
    try {
      if (!hold.takeBack(returned) || !hold.isFree()) {
        return effects;
      }
      if (waiters.isEmpty()) {
        if (!claims.areSticky() || !keep(hold)) {
          end(hold, effects);
        }
        return effects;
      }
      long now = engine.time().nanos();
      if (hold.isShared() || !claims.mayPass(hold, now)) {
        end(hold, effects);
      } else if (hold.isInSlice(now)) {
        waiters.nudge(claims.free(), effects);
      } else {
        hold.beginSlice(now);
        lend(hold, waiters.removeFirst(), effects);
        waiters.nudge(claims.free(), effects); // it may have been called to another hold
      }
    } finally {
      mutex.unlock();
    }
    return effects;
  }

  /** False where {@code hold} is to end; else it lies free until whoever comes, or its time. */
  private boolean keep(Hold hold) {
    long now = engine.time().nanos();
    if (!claims.mayKeep(hold, now)) {
      return false;
    }
    try {
      hold.endsKeepingBy(engine.time(), now, () -> endKept(hold));
      return true;
    } catch (RuntimeException | Error e) { // of memory: nobody would end it
      log.warn("lock '{}': its hold cannot be kept, and is given back", key.name(), e);
      return false;
    }
  }

  /**
   * Its time is over. Where it is lent, or somebody was called to it, that one ends it. Whoever
   * comes from now on asks the store after it.
   */
  private void endKept(Hold hold) {
    LateReleases.Late release;
    mutex.lock();
    try {
      if (!claims.holds().contains(hold) || !hold.isFree() || !waiters.isEmpty()) {
        return;
      }
      claims.end(hold, false);
      release = engine.lateReleases().plan(key.name(), hold.claim().end().stream().toList());
      retireIfDone();
    } finally {
      mutex.unlock();
    }
    engine.lateReleases().begin(release);
  }

  /**
   * The hold will be a reader's, so that it is not for this queue any more. False if {@code loan}
   * does not have it any more: it may be another's by now.
   */
  boolean drain(Loan loan, Hold hold) {
    boolean[] has = new boolean[1];
    decide(
        effects -> {
          has[0] = hold.loans().contains(loan);
          if (has[0]) {
            hold.drain();
            StrictBlock.scatter(engine.registry(), this, effects);
            askForMore(effects, 0);
          }
        },
        false);
    return has[0];
  }

  void granted(LiveClaim granted) {
    Effects effects = new Effects();
    Standing.Held tokens = granted.held();
    if (tokens != null) {
      StrictBlock.gather(engine.registry(), this, granted, tokens.followers(), effects);
    }
    mutex.lock();
    try {
      if (tokens != null && claims.removeAsking(granted)) {
        stands = false;
        lendToWaiters(claims.hold(granted, tokens, engine.time().nanos()), effects);
        waiters.nudge(claims.free(), effects);
        noteWaiting(effects);
        askForMore(effects, 0);
        hurryOverdue(effects);
      } else {
        effects.end(granted);
      }
    } finally {
      mutex.unlock();
    }
    effects.perform(engine, false);
  }

  /** Tells the observer of those in the queue that have somebody in their way. */
  private void noteWaiting(Effects effects) {
    if (!engine.isObserved() || waiters.isEmpty()) {
      return;
    }
    boolean lent = claims.isLent();
    if (lent || stands) {
      effects.waiting(waiters.beginWaiting(), lent);
    }
  }

  private void lendToWaiters(Hold hold, Effects effects) {
    Waiter<?> first = hold.claim().claim().queues() ? null : waiters.firstThat(false);
    if (first != null) {
      waiters.remove(first);
      lend(hold, first, effects);
    }
    while (hold.hasRoom() && !hold.isUsedUp() && !waiters.isEmpty()) {
      lend(hold, waiters.removeFirst(), effects);
    }
    if (hold.isFree()) {
      end(hold, effects);
    } else {
      claims.noteIfUsedUp(hold);
    }
  }

  /** Gets its waiter: a new queue, that nobody else knows yet. */
  void startWith(Waiter<?> waiter, Effects effects) {
    mutex.lock();
    try {
      waiters.add(waiter, this);
      askForMore(effects, 0);
    } finally {
      mutex.unlock();
    }
  }

  void refused(LiveClaim refused) {
    decide(
        effects -> {
          if (!claims.removeAsking(refused)) {
            return;
          }
          Waiter<?> impatient = refused.claim().queues() ? null : waiters.firstThat(false);
          if (impatient != null) {
            waiters.remove(impatient);
            impatient.refuse();
            effects.wake(impatient);
          }
          askForMore(effects, refused.claim().queues() ? LOST_PLACE_PAUSE_NANOS : 0);
          settle(true, effects);
        },
        false);
  }

  CompletableFuture<Void> lost(LiveClaim lost, String why) {
    return decide(
            effects -> {
              Hold hold = claims.holdOf(lost);
              if (hold != null) {
                claims.lost(hold);
                effects.lose(hold.takeAll(), why);
              } else if (!claims.removeAsking(lost)) {
                return;
              }
              StrictBlock.scatter(engine.registry(), this, effects);
              askForMore(effects, 0);
              retireIfDone();
            },
            false)
        .told();
  }

  /** Whether somebody has it, and it does not lie free. */
  boolean isLent(LiveClaim held) {
    mutex.lock();
    try {
      Hold hold = claims.holdOf(held);
      return hold != null && !hold.isFree();
    } finally {
      mutex.unlock();
    }
  }

  /** Has nobody join a hold whose leases nobody can reach any more; false for any other hold. */
  boolean drainIfForgotten(LiveClaim held) {
    mutex.lock();
    try {
      Hold hold = claims.holdOf(held);
      if (hold == null || hold.isFree() || !hold.loans().stream().allMatch(Loan::isForgotten)) {
        return false;
      }
      hold.drain();
      return true;
    } finally {
      mutex.unlock();
    }
  }

  /** Asked for once more, where that was not done already. */
  void late(LiveClaim late) {
    decide(
        effects -> {
          if (!claims.removeAsking(late)) {
            return;
          }
          Waiter<?> impatient = waiters.firstThat(false);
          if (impatient != null && !impatient.asksAnew()) {
            waiters.remove(impatient);
            turnAway(List.of(impatient), lateException(late), effects);
          }
          askForMore(effects, 0);
          settle(true, effects);
        },
        false);
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
   * the failures began: their patience is not over. Claims of which the store says nothing stand
   * for those who came last, or newcomers would keep the first waiting for ever. Newcomers that are
   * mistaken about the lock are told so, and nobody who stood before them: there was a claim, or a
   * free hold, for each of those as the newcomer's was made. Nor is anybody who came after the
   * question: the lock may be what they ask for by now. Nor is anybody for whom no claim was made:
   * he waits for whatever permits his client's others give back, if the lock ever had any for them.
   *
   * @param askedAt when the question was sent that has this answer
   */
  void failed(LiveClaim failed, RuntimeException cause, long askedAt) {
    decide(
        effects -> {
          boolean fresh = claims.isFresh(failed);
          int standing = claims.standing();
          if (!claims.removeAsking(failed)) {
            return;
          }
          if (!fresh
              && cause instanceof LockKindException other
              && (adopt(other.capacity(), standing) || wasMadeBefore(other.capacity(), failed))) {
            askForMore(effects, 0);
            return;
          }
          boolean otherKind = cause instanceof LockKindException;
          boolean mistaken = fresh && otherKind;
          int others = mistaken ? claims.asking() + claims.free() : claims.answered();
          List<Waiter<?>> unserved =
              waiters.behind(others).stream()
                  .filter(waiter -> !mayPass(cause) || isOutOfPatience(waiter))
                  .filter(waiter -> !otherKind || waiter.enteredAt() - askedAt <= 0)
                  .filter(waiter -> !mistaken || !goesOn(waiter))
                  .limit(Math.max(0, waiters.size() - claims.asking()))
                  .toList();
          unserved.forEach(waiters::remove);
          turnAway(unserved, cause, effects);
          List<Waiter<?>> patient = waiters.behind(claims.asking());
          if (otherKind) {
            askAnew(effects);
          } else if (!patient.isEmpty()) {
            askAfterFailures(patient.get(0).enteredAt(), cause, effects);
          }
          settle(true, effects);
        },
        false);
  }

  private static boolean mayPass(RuntimeException cause) {
    return cause instanceof StoreUnavailableException;
  }

  private boolean isOutOfPatience(Waiter<?> waiter) {
    return engine.time().nanos() - waiter.enteredAt() >= engine.patienceNanos();
  }

  private boolean goesOn(Waiter<?> waiter) {
    return claims.areKnown() && waiter.goesOn();
  }

  /** As newcomers do, unless none can come any more, or somebody goes on whatever the answer is. */
  private void askAnew(Effects effects) {
    boolean fresh = !aside && !waiters.any(this::goesOn);
    for (int more = claims.wanted(waiters.size()); more > 0; more--) {
      effects.ask(make(fresh), 0);
    }
  }

  private void askAfterFailures(long patientSince, RuntimeException cause, Effects effects) {
    for (int more = claims.wanted(waiters.size()); more > 0; more--) {
      LiveClaim next = make(false);
      next.continuesFailing(patientSince, cause);
      effects.ask(next, StoreCalls.pauseNanos(FAILURES_BEFORE, engine.random()));
    }
  }

  /** The client is closing: waiters are turned away, and holders asked to come to an end. */
  void close() {
    List<Loan> lent = new ArrayList<>();
    decide(
        effects -> {
          turnAway(waiters.removeBehind(0), Lifecycle.closedException(key.name()), effects);
          claims.removeAllAsking().forEach(effects::end);
          endNeedlessHolds(effects);
          claims.holds().forEach(hold -> lent.addAll(hold.loans()));
          retireIfDone();
        },
        false);
    lent.forEach(Loan::tellClosing);
  }

  /**
   * What is still held is lost, and left to run out at the store. The stage completes when the
   * holders know.
   */
  CompletableFuture<Void> leaveToRunOut(String why) {
    List<LiveClaim> held = new ArrayList<>();
    decide(effects -> claims.holds().forEach(hold -> held.add(hold.claim())), false);
    return CompletableFuture.allOf(
        held.stream().map(claim -> claim.leaveToRunOut(why)).toArray(CompletableFuture[]::new));
  }

  private Effects decide(Consumer<Effects> decision, boolean mayBlock) {
    Effects effects = new Effects();
    mutex.lock();
    try {
      decision.accept(effects);
    } finally {
      mutex.unlock();
    }
    effects.perform(engine, mayBlock);
    return effects;
  }

  private void lend(Hold hold, Waiter<?> waiter, Effects effects) {
    waiter.grant(hold.lend(engine, this));
    effects.wake(waiter);
    if (waiters.isEmpty()) {
      endNeedless(true, effects);
    }
    endNeedlessHolds(effects);
  }

  /** A hold that lies free is for a waiter, who may have got another one meanwhile. */
  private void endNeedlessHolds(Effects effects) {
    while (claims.free() > waiters.size()) {
      end(Objects.requireNonNull(claims.firstFree()), effects);
    }
  }

  /** Busy, unless the claim that stands in the way is struggling with the store itself. */
  private void refuse(Waiter<?> waiter, Effects effects) {
    LiveClaim inTheWay = claims.oldestAsking();
    StoreException trouble = inTheWay == null ? null : inTheWay.lastFailure();
    if (trouble == null && inTheWay != null) {
      long late = inTheWay.silentNanos() - engine.graceNanos();
      trouble = late >= 0 && engine.queueingNanos(late) == 0 ? engine.silentStore() : null;
    }
    if (trouble == null) {
      waiter.refuse();
    } else {
      waiter.fail(Waiter.stillFailing(trouble));
    }
    effects.wake(waiter);
  }

  private static void turnAway(List<Waiter<?>> away, RuntimeException cause, Effects effects) {
    for (Waiter<?> waiter : away) {
      waiter.fail(cause);
      effects.wake(waiter);
    }
  }

  /** Gives {@code hold} back, and asks for those in the queue. */
  private void end(Hold hold, Effects effects) {
    claims.end(hold, !waiters.isEmpty());
    effects.end(hold.claim());
    StrictBlock.scatter(engine.registry(), this, effects);
    askForMore(effects, 0);
    retireIfDone();
  }

  void askForMore(Effects effects, long delayNanos) {
    for (int more = claims.wanted(waiters.size()); more > 0; more--) {
      effects.ask(make(false), delayNanos);
    }
  }

  private LiveClaim make(boolean fresh) {
    boolean queues = waiters.firstThat(true) != null;
    long now = engine.time().nanos();
    Asker asker = waiters.first().asker();
    return fresh
        ? claims.makeFresh(waiters.size(), queues, asker, now)
        : claims.make(waiters.size(), queues, asker, now);
  }

  void retireIfDone() {
    if (waiters.isEmpty() && claims.areNone()) {
      retired = true;
      engine.registry().retire(key, this);
    }
  }
}
