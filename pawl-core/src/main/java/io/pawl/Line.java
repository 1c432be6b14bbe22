package io.pawl;

import io.pawl.spi.ClaimId;
import io.pawl.spi.GrantRule;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The local line of one client for one lock: many requests, one claim at the store. The claim is
 * the line's; its hold is lent to one waiter after another, each with a larger token out of the
 * range that the store granted.
 *
 * <p><b>A run</b> begins when the store grants the claim and ends when the tokens are used up, the
 * run's time is over, the hold is no longer fresh, or nobody is left. Then the claim is withdrawn,
 * and those still in line ask for a new one, behind whoever waits elsewhere.
 *
 * <p><b>A slice</b> is a part of a run in which speed goes before order. Parking and unparking a
 * thread costs far more than a pass, so a release inside a slice leaves the hold <em>free</em> and
 * calls the head of the line; whoever comes first takes it, often the thread that runs already.
 * After {@link #SLICE_NANOS} a release hands over to the head directly. Nobody is overtaken for
 * longer than a slice per waiter ahead.
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
final class Line implements LiveClaim.Owner {

  static final long SLICE_NANOS = 500_000;

  /** The run of a strict line, which ends with its waiters or tokens: 146 years. */
  private static final long ENDLESS_NANOS = Long.MAX_VALUE / 2;

  /** How many times more tokens to ask for after a run that used them all. */
  private static final int WISH_GROWTH = 8;

  /** So that a store that keeps dropping our place is not asked in a tight loop. */
  private static final long LOST_PLACE_PAUSE_NANOS = 10_000_000;

  private final Engine engine;
  private final Engine.LineKey key;
  private final boolean strict;
  private final long runNanos;
  private final long sliceNanos;
  private final ReentrantLock mutex = new ReentrantLock();
  private final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();
  private boolean retired;
  private @Nullable LiveClaim claim;
  private @Nullable Lease lease;

  /** The claim is held and lent to nobody: in a slice, with waiters. */
  private boolean free;

  private int tokenWish = 1;
  private long firstToken;
  private long nextToken;
  private long lastToken;
  private long runEndsAt;
  private long sliceEndsAt;

  Line(Engine engine, Engine.LineKey key) {
    this.engine = engine;
    this.key = key;
    this.strict = !key.options().passes();
    this.runNanos = strict ? ENDLESS_NANOS : key.options().maxRun().toNanos();
    this.sliceNanos = strict ? 0 : SLICE_NANOS;
  }

  String name() {
    return key.name();
  }

  /** What is wrong with the store, as far as the claim under way knows. */
  @Nullable StoreException trouble() {
    mutex.lock();
    try {
      if (claim == null) {
        return null;
      }
      return claim.silentNanos() >= Waiter.GRACE_NANOS
          ? new StoreUnavailableException(engine.store().describe() + " has not answered")
          : claim.lastFailure();
    } finally {
      mutex.unlock();
    }
  }

  /** For how long the store has not answered the claim under way; 0 if it has. */
  long silentNanos() {
    mutex.lock();
    try {
      return claim == null ? 0 : claim.silentNanos();
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
  boolean enter(Waiter waiter, Executor asks) {
    LiveClaim ask = null;
    boolean decided = true;
    mutex.lock();
    try {
      if (retired) {
        return false;
      }
      waiter.standsIn(this);
      long now = engine.time().nanos();
      if (free && now - sliceEndsAt < 0 && mayPass(now)) {
        lend(waiter, true);
      } else if (!waiter.waits() && claim != null) {
        refuse(waiter, claim);
      } else {
        decided = false;
        waiters.add(waiter);
        if (claim == null) {
          ask = replaceClaim();
        }
      }
    } finally {
      mutex.unlock();
    }
    if (decided) {
      waiter.wake();
    } else if (ask != null) {
      asks.execute(ask::ask);
    }
    return true;
  }

  /** A waiter that was nudged looks whether the hold still lies free. */
  void takeFreeHold(Waiter waiter) {
    LiveClaim end = null;
    LiveClaim ask = null;
    mutex.lock();
    try {
      if (!free || !waiters.contains(waiter)) {
        return;
      }
      long now = engine.time().nanos();
      if (mayPass(now)) {
        waiters.remove(waiter);
        sliceEndsAt = now + sliceNanos;
        lend(waiter, true);
      } else {
        end = claim;
        ask = replaceClaim();
      }
    } finally {
      mutex.unlock();
    }
    if (end == null) {
      waiter.wake();
    } else {
      endThenAsk(end, ask, waiter.isAsync() ? engine::run : Runnable::run);
    }
  }

  /** Takes {@code waiter} out of line; false where its outcome has been decided already. */
  boolean leave(Waiter waiter) {
    LiveClaim end = null;
    Waiter nudge = null;
    mutex.lock();
    try {
      if (!waiters.remove(waiter)) {
        return false;
      }
      if (waiters.isEmpty() && lease == null) {
        end = claim;
        replaceClaim();
      } else if (free && first().markNudged()) {
        nudge = first();
      }
    } finally {
      mutex.unlock();
    }
    if (nudge != null) {
      nudge.nudge();
    }
    if (end != null) {
      endThenAsk(end, null, waiter.isAsync() ? engine::run : Runnable::run);
    }
    return true;
  }

  /**
   * A lease is given back; the stage completes when the store knows, at once if it was passed on.
   *
   * @param ends runs what tells the store, if that has to be told
   */
  CompletableFuture<Void> release(Lease returned, Executor ends) {
    Waiter wake = null;
    Waiter nudge = null;
    LiveClaim end = null;
    LiveClaim ask = null;
    List<LiveClaim> askToo = List.of();
    mutex.lock();
    try {
      if (lease != returned) {
        return CompletableFuture.completedFuture(null);
      }
      lease = null;
      long now = engine.time().nanos();
      if (waiters.isEmpty() || !mayPass(now)) {
        adaptTokenWish();
        end = claim;
        askToo = scatter();
        ask = replaceClaim();
      } else if (now - sliceEndsAt < 0) {
        free = true;
        nudge = first().markNudged() ? first() : null;
      } else {
        wake = removeFirst();
        sliceEndsAt = now + sliceNanos;
        lend(wake, true);
      }
    } finally {
      mutex.unlock();
    }
    if (wake != null) {
      wake.wake();
    }
    if (nudge != null) {
      nudge.nudge();
    }
    if (end == null) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> ended = endThenAsk(end, ask, ends);
    askToo.forEach(this::askScattered);
    return ended;
  }

  @Override
  public void granted(LiveClaim granted) {
    LiveClaim end = null;
    Waiter wake = null;
    Standing.Held tokens = granted.held();
    List<LiveClaim> superseded = tokens == null ? List.of() : gather(granted, tokens.followers());
    mutex.lock();
    try {
      if (granted != claim) {
        end = granted;
      } else if (waiters.isEmpty()) {
        end = granted;
        replaceClaim();
      } else if (tokens != null) {
        long now = engine.time().nanos();
        firstToken = tokens.token();
        nextToken = firstToken;
        lastToken = tokens.lastToken();
        runEndsAt = now + runNanos;
        sliceEndsAt = now + sliceNanos;
        wake = removeFirst();
        lend(wake, false);
      }
    } finally {
      mutex.unlock();
    }
    if (wake != null) {
      wake.wake();
    }
    superseded.forEach(claim -> claim.end(engine::run));
    if (end != null) {
      end.end(engine::run);
    }
  }

  /**
   * Takes over the waiters of {@code followers}, up to one that cannot be: nobody overtakes it.
   * Answers their claims, which are to be ended.
   */
  private List<LiveClaim> gather(LiveClaim leader, List<ClaimId> followers) {
    List<LiveClaim> superseded = new ArrayList<>();
    for (ClaimId follower : followers) {
      Line line = engine.lineOf(follower);
      LiveClaim left = line == null ? null : line.moveTo(this, leader, follower);
      if (left != null) {
        superseded.add(left);
      } else if (line != null) {
        break;
      }
    }
    return superseded;
  }

  /** The waiter of a strict line moves, unless either side has changed; answers its old claim. */
  private @Nullable LiveClaim moveTo(Line target, LiveClaim leader, ClaimId own) {
    mutex.lock();
    try {
      LiveClaim left = claim;
      if (left == null || !left.claim().id().equals(own) || lease != null || waiters.size() != 1) {
        return null;
      }
      target.mutex.lock(); // in this order only: who is granted does not follow
      try {
        if (target.claim != leader
            || !strict
            || !key.options().sharesHolds()
            || !target.key.isLike(key)) {
          return null;
        }
        Waiter moved = removeFirst();
        target.waiters.add(moved);
        moved.standsIn(target);
      } finally {
        target.mutex.unlock();
      }
      replaceClaim();
      return left;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * The hold under which several strict waiters were to be served ends early: all but the first get
   * lines of their own again. Answers their claims, which are to be asked for.
   */
  private List<LiveClaim> scatter() {
    List<LiveClaim> asks = new ArrayList<>();
    if (strict && waiters.size() > 1) {
      Waiter stays = removeFirst();
      while (!waiters.isEmpty()) {
        asks.add(engine.lineFor(key).startWith(removeFirst()));
      }
      waiters.add(stays);
    }
    return asks;
  }

  /** A new line that nobody else knows yet gets its waiter. */
  private LiveClaim startWith(Waiter waiter) {
    mutex.lock();
    try {
      waiters.add(waiter);
      waiter.standsIn(this);
      return Objects.requireNonNull(replaceClaim());
    } finally {
      mutex.unlock();
    }
  }

  private void askScattered(LiveClaim ask) {
    engine.run(ask::ask);
    if (engine.isClosed() && ask.owner() instanceof Line line) {
      line.close();
    }
  }

  @Override
  public void refused(LiveClaim refused) {
    LiveClaim ask;
    List<Waiter> away = new ArrayList<>();
    mutex.lock();
    try {
      if (refused != claim) {
        return;
      }
      waiters.stream().filter(waiter -> !waiter.waits()).forEach(away::add);
      away.forEach(waiters::remove);
      away.forEach(Waiter::refuse);
      ask = replaceClaim();
    } finally {
      mutex.unlock();
    }
    away.forEach(Waiter::wake);
    if (ask != null && refused.claim().queues()) {
      ask.askAfter(LOST_PLACE_PAUSE_NANOS);
    } else if (ask != null) {
      engine.run(ask::ask);
    }
  }

  @Override
  public void lost(LiveClaim lost, String why) {
    LiveClaim ask;
    List<LiveClaim> askToo;
    Lease lent;
    mutex.lock();
    try {
      if (lost != claim) {
        return;
      }
      lent = lease;
      lease = null;
      askToo = scatter();
      ask = replaceClaim();
    } finally {
      mutex.unlock();
    }
    if (lent != null) {
      engine.workers().losses().execute(() -> lent.lose(why));
    }
    if (ask != null) {
      engine.run(ask::ask);
    }
    askToo.forEach(this::askScattered);
  }

  @Override
  public void failed(LiveClaim failed, RuntimeException cause) {
    List<Waiter> away;
    mutex.lock();
    try {
      if (failed != claim) {
        return;
      }
      away = removeAll(cause);
      replaceClaim();
    } finally {
      mutex.unlock();
    }
    away.forEach(Waiter::wake);
  }

  /**
   * The client is closing: waiters are turned away, the holder's lease is lost. The stage completes
   * when the holder has been told.
   */
  CompletableFuture<Void> close() {
    List<Waiter> away;
    Lease lent;
    LiveClaim end;
    mutex.lock();
    try {
      away = removeAll(Engine.closedException(name()));
      lent = lease;
      lease = null;
      end = claim;
      replaceClaim();
    } finally {
      mutex.unlock();
    }
    away.forEach(Waiter::wake);
    if (end != null) {
      end.end(engine::run);
    }
    return lent == null
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.runAsync(
            () -> lent.lose("the Pawl client was closed"), engine.workers().losses());
  }

  /** Busy, unless the claim that stands in the way is struggling with the store itself. */
  private static void refuse(Waiter waiter, LiveClaim inTheWay) {
    StoreException trouble = inTheWay.lastFailure();
    if (trouble == null || inTheWay.held() != null) {
      waiter.refuse();
    } else {
      waiter.fail(Waiter.stillFailing(trouble));
    }
  }

  private boolean mayPass(long now) {
    return claim != null && nextToken <= lastToken && now - runEndsAt < 0 && claim.isFresh(now);
  }

  private void lend(Waiter waiter, boolean passed) {
    free = false;
    lease = new Lease(engine, this, Objects.requireNonNull(claim), nextToken++, passed);
    waiter.grant(lease);
  }

  /** Lets the claim go, with a new one for those in line, if any; the caller asks for it. */
  private @Nullable LiveClaim replaceClaim() {
    free = false;
    if (waiters.isEmpty()) {
      claim = null;
      retired = true;
      engine.retire(key, this);
      return null;
    }
    Waiter head = first();
    boolean queues = waiters.stream().anyMatch(Waiter::waits);
    int tokens = strict ? strictTokens(queues) : tokenWish;
    claim = engine.claim(key, this, queues, tokens, head.threadName());
    return claim;
  }

  private int strictTokens(boolean queues) {
    return queues && key.options().sharesHolds() ? 1 + GrantRule.MAX_FOLLOWERS : 1;
  }

  private void adaptTokenWish() {
    if (nextToken > lastToken && !waiters.isEmpty()) {
      tokenWish = Math.min(tokenWish * WISH_GROWTH, key.options().maxPasses() + 1);
    } else {
      tokenWish = (int) Math.min(tokenWish, 2 * (nextToken - firstToken));
    }
  }

  private CompletableFuture<Void> endThenAsk(
      LiveClaim end, @Nullable LiveClaim ask, Executor ends) {
    CompletableFuture<Void> ended = end.end(ends);
    if (ask != null) {
      ends.execute(() -> engine.run(ask::ask)); // after the end, whenever that is run
    }
    return ended;
  }

  private Waiter first() {
    return waiters.iterator().next();
  }

  private Waiter removeFirst() {
    Iterator<Waiter> line = waiters.iterator();
    Waiter head = line.next();
    line.remove();
    return head;
  }

  private List<Waiter> removeAll(RuntimeException cause) {
    List<Waiter> all = List.copyOf(waiters);
    waiters.clear();
    all.forEach(waiter -> waiter.fail(cause));
    return all;
  }
}
