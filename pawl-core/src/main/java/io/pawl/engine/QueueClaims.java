package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one {@link LocalQueue}: those that ask and those that are held, how many there
 * should be, and how many tokens to ask for. Guarded by the queue's mutex.
 *
 * <p>For an exclusive lock there is one. For k of n permits there are as many as fit into n, each
 * with its waiter at the store, so that a queue does not serialise permits. For readers there is
 * one that asks, beside any that are held.
 *
 * <p>n may change meanwhile. Whoever stands at the store is served by what n is there; those who
 * wait here behind as many holds as the old n had room for have nobody there. So after a while one
 * of them asks all the same, and the answer tells of the new n.
 */
final class QueueClaims {

  /** How many times more tokens to ask for after a run that used them all. */
  private static final int WISH_GROWTH = 8;

  /**
   * How many tokens a sticky queue asks for at first: few enough to be wasted on each grant, and
   * enough for its owner to come back some hundred times before it asks for more.
   */
  private static final int STICKY_WISH = 1_024;

  /** The run of a strict queue, which ends with its waiters or tokens: 146 years. */
  private static final long ENDLESS_NANOS = Long.MAX_VALUE / 2;

  private final Engine engine;
  private final LocalQueue queue;
  private final boolean shared;
  private final boolean strict;
  private QueueKey key;
  private int width;

  /** Somebody waits for so long that the store is asked whether there is room for more. */
  private boolean looksBeyond;

  /** Those that are not held, oldest first. */
  private final List<LiveClaim> asking = new ArrayList<>(1);

  /** Those of them that were made for a request that had just come, and have had no place yet. */
  private final List<LiveClaim> fresh = new ArrayList<>(1);

  private final List<Hold> holds = new ArrayList<>(1);

  /** The store has granted one, given it a place, or told another capacity that fits. */
  private boolean known;

  private final long stickyNanos;
  private int tokenWish;

  QueueClaims(Engine engine, LocalQueue queue, QueueKey key) {
    this.engine = engine;
    this.queue = queue;
    this.key = key;
    this.shared = key.mode() instanceof Mode.Shared;
    this.strict = !key.options().passes();
    this.width = widthOf(key.mode());
    this.stickyNanos = key.mode() instanceof Mode.Exclusive ? key.options().sticky().toNanos() : 0;
    this.tokenWish = stickyNanos > 0 ? STICKY_WISH : 1;
  }

  private static int widthOf(Mode mode) {
    return mode instanceof Mode.Permits some ? some.capacity() / some.wanted() : 1;
  }

  /** The semaphore has another capacity from now on. */
  void adopt(QueueKey changed) {
    key = changed;
    width = widthOf(changed.mode());
    known = true;
  }

  /** One more claim stands at the store than the capacity has room for, as far as is known. */
  void lookBeyond() {
    looksBeyond = true;
  }

  boolean areNone() {
    return asking.isEmpty() && holds.isEmpty();
  }

  int asking() {
    return asking.size();
  }

  /** How many of them do not queue. */
  int askingImpatiently() {
    int count = 0;
    for (int i = 0; i < asking.size(); i++) {
      count += asking.get(i).claim().queues() ? 0 : 1;
    }
    return count;
  }

  /** How many of them the store has ever answered: these have a place there. */
  int answered() {
    int count = 0;
    for (LiveClaim claim : asking) {
      count += claim.silentNanos() == 0 ? 1 : 0;
    }
    return count;
  }

  @Nullable LiveClaim oldestAsking() {
    return asking.isEmpty() ? null : asking.get(0);
  }

  /** How many are still to be made for {@code waiting} waiters. */
  int wanted(int waiting) {
    if (shared) {
      return waiting > 0 && asking.isEmpty() ? 1 : 0;
    }
    int ours = asking.size() + undrained();
    int room = looksBeyond && asking.isEmpty() ? Math.max(1, width - ours) : width - ours;
    return Math.min(waiting - asking.size() - free(), room);
  }

  private int undrained() {
    int count = 0;
    for (int i = 0; i < holds.size(); i++) {
      count += holds.get(i).isDraining() ? 0 : 1;
    }
    return count;
  }

  /** Whether there is a hold for those in the queue, or one of which it is about to be told. */
  boolean isServed() {
    return undrained() > 0 || (!asking.isEmpty() && asking.get(0).isOnItsWay());
  }

  /** As {@link #make}, for a request that has just come: it may well be mistaken about the lock. */
  LiveClaim makeFresh(int waiting, boolean queues, Asker asker, long since) {
    LiveClaim claim = make(waiting, queues, asker, since);
    fresh.add(claim);
    return claim;
  }

  /**
   * For how many waiters there is a hold, or a claim that was not made for a newcomer's request.
   */
  int standing() {
    return asking.size() - fresh.size() + free();
  }

  boolean isFresh(LiveClaim claim) {
    return fresh.contains(claim);
  }

  /** It stands in the store's queue: the request was not mistaken as it came. */
  void hasPlace(LiveClaim claim) {
    fresh.remove(claim);
    known = true;
  }

  /** Whether the lock is what this queue asks for, or was. */
  boolean areKnown() {
    return known;
  }

  /** A new one, wanted since then, that the caller asks for. */
  LiveClaim make(int waiting, boolean queues, Asker asker, long since) {
    int tokens = strict ? strictTokens(queues) : Math.min(mostTokens(), wish(waiting));
    LiveClaim claim = engine.registry().claim(key, queue, queues, tokens, asker, since);
    asking.add(claim);
    return claim;
  }

  private int wish(int waiting) {
    return shared ? Math.max(tokenWish, waiting) : tokenWish;
  }

  private int mostTokens() {
    return key.options().maxPasses() + 1;
  }

  /** Enough for followers, where this client has anyone else who might be one. */
  private int strictTokens(boolean queues) {
    return queues
            && gathers()
            && key.mode() instanceof Mode.Exclusive
            && engine.registry().hasSeveralQueues()
        ? 1 + GrantRule.MAX_FOLLOWERS
        : 1;
  }

  /** Whether a strict hold may go to those who stood directly behind it. */
  boolean gathers() {
    return strict && key.options().sharesHolds();
  }

  /** Whether it is a queue of one waiter, or of those who stood directly behind it at the store. */
  boolean strict() {
    return strict;
  }

  /** It asks no more; false where it did not. */
  boolean removeAsking(LiveClaim claim) {
    fresh.remove(claim);
    return asking.remove(claim);
  }

  /**
   * Removes one that nobody is left for among {@code waiting} waiters, the newest of the leaver's
   * sort.
   */
  @Nullable LiveClaim removeNeedless(int waiting, boolean queueing) {
    looksBeyond &= waiting > 0;
    if (asking.size() <= (shared ? Math.min(1, waiting) : waiting)) {
      return null;
    }
    LiveClaim needless = asking.get(asking.size() - 1);
    for (int i = asking.size() - 1; i >= 0; i--) {
      if (asking.get(i).claim().queues() == queueing) {
        needless = asking.get(i);
        break;
      }
    }
    removeAsking(needless);
    return needless;
  }

  /** {@code granted} is held now. */
  Hold hold(LiveClaim granted, Standing.Held tokens, long now) {
    Hold hold =
        strict
            ? new Hold(granted, tokens, ENDLESS_NANOS, 0, now)
            : new Hold(
                granted, tokens, key.options().maxRun().toNanos(), LocalQueue.SLICE_NANOS, now);
    hold.beginSlice(now);
    holds.add(hold);
    known = true;
    return hold;
  }

  @Nullable Hold holdOf(LiveClaim claim) {
    for (Hold hold : holds) {
      if (hold.claim() == claim) {
        return hold;
      }
    }
    return null;
  }

  /**
   * One that a newcomer may have at once, overtaking whoever is being called.
   *
   * @param nobodyWaits what lies free then was kept for him
   */
  @Nullable Hold open(Time time, boolean nobodyWaits) {
    long now = holds.isEmpty() ? 0 : time.nanos();
    for (int i = 0; i < holds.size(); i++) {
      Hold hold = holds.get(i);
      if (hold.hasRoom() && (shared || nobodyWaits || hold.isInSlice(now))) {
        if (mayPass(hold, now)) {
          return hold;
        }
        noteIfUsedUp(hold);
      }
    }
    return null;
  }

  /** One that is lent to nobody. */
  @Nullable Hold firstFree() {
    for (Hold hold : holds) {
      if (hold.isFree()) {
        return hold;
      }
    }
    return null;
  }

  /** Whether somebody of this client has a hold of this queue. */
  boolean isLent() {
    return holds.size() > free();
  }

  int free() {
    int free = 0;
    for (int i = 0; i < holds.size(); i++) {
      free += holds.get(i).isFree() ? 1 : 0;
    }
    return free;
  }

  /**
   * Whether {@code hold} may go to another of this client's waiters. While a writer waits, readers
   * no longer join; while a reader waits, writers pass the lock on for no more than a slice.
   * Permits that a smaller capacity has no room for are given back.
   */
  boolean mayPass(Hold hold, long now) {
    if (!hold.mayPass(now) || (!shared && undrained() > width)) {
      return false;
    }
    boolean theirTurn = shared || hold.isOlderThan(LocalQueue.SLICE_NANOS, now);
    return !theirTurn || !engine.registry().otherSideWaits(key);
  }

  /** Whether holds may be kept for whoever of this client comes back. */
  boolean areSticky() {
    return stickyNanos > 0;
  }

  /**
   * Whether {@code hold}, which nobody waits for, is kept for whoever of this client comes back.
   */
  boolean mayKeep(Hold hold, long now) {
    return !engine.lifecycle().isClosed() && hold.mayBeKept(stickyNanos, now);
  }

  /** Nobody joins readers whose tokens are used up; the next claim asks for more. */
  void noteIfUsedUp(Hold hold) {
    if (shared && hold.isUsedUp() && !hold.isDraining()) {
      hold.drain();
      growTokenWish();
    }
  }

  /** {@code hold} is given back. */
  void end(Hold hold, boolean someoneWaits) {
    hold.stopKeeping();
    holds.remove(hold);
    if (!hold.isUsedUp()) {
      tokenWish = (int) Math.max(1, Math.min(tokenWish, 2 * hold.usedTokens()));
    } else if (!shared && someoneWaits) {
      growTokenWish();
    }
  }

  void lost(Hold hold) {
    hold.stopKeeping();
    holds.remove(hold);
  }

  List<Hold> holds() {
    return holds;
  }

  /** Those that asked, none of which is the queue's any more. */
  List<LiveClaim> removeAllAsking() {
    List<LiveClaim> all = List.copyOf(asking);
    asking.clear();
    fresh.clear();
    return all;
  }

  private void growTokenWish() {
    tokenWish = Math.min(tokenWish * WISH_GROWTH, mostTokens());
  }
}
