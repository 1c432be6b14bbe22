package io.pawl.spi.rule;

import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import io.pawl.spi.rule.LockState.Entry;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;

/**
 * Who holds, who waits, and who is granted next, given the time: the rule that every store with a
 * clock of its own obeys. A pure function of state, request and time; memory and SQL run it, Redis
 * restates it in Lua and a differential test holds the two together.
 *
 * <p>Each verb first <em>settles</em> the state: claims whose lease has run out are dropped, then
 * the queue is served from its head. The queue is first come, first served; the head is granted as
 * soon as its mode fits beside the holders, and so is the one after it. Hence a release lets a
 * whole run of shared claims in at once, and nobody overtakes a writer that waits.
 *
 * <p>The {@link Kind} of a lock is part of its state. Claims already in it keep their place when it
 * is changed.
 *
 * <p>The deadline of a waiter that asks is moved, to a whole lease from then, only where less than
 * {@link Claim#keptWaitingMillis} is left: with a long lease to ask mostly changes nothing. A claim
 * granted from the queue keeps that deadline. A waiter that died therefore delays the others by its
 * own lease at most, and a waiter that lives knows without asking how long it holds at least.
 *
 * <p>The <b>shortest hold</b> of a claim counts from its grant. Withdrawn sooner, the claim
 * lingers: it is nobody's any more, and busy until that time. A holder that falls silent is kept as
 * long, should its lease end sooner; but only once it has been heard of as a holder, by the attempt
 * that was granted or by a later sign of life. So a waiter that was dead when its turn came costs
 * its lease and no more. An eviction ends all of it.
 */
public final class GrantRule {

  /**
   * How many claims may stand in the queue for one lock, or fewer where the {@link LockState} says
   * so; beyond it they are told to ask again.
   */
  public static final int MAX_WAITERS = 10_000;

  /** How many claims at most a grant names as its followers. */
  public static final int MAX_FOLLOWERS = 63;

  /** How many withdrawn claims a lock remembers; the oldest is forgotten first. */
  public static final int MAX_WITHDRAWN = 1_000;

  /** How late an attempt may arrive after its withdrawal and still be refused, at least. */
  public static final long WITHDRAWN_KEPT_MILLIS = 60_000;

  /** How soon a claim asks again for which the queue had no place. */
  public static final long QUEUE_FULL_ASK_AGAIN_MILLIS = 100;

  /** What an exclusive claim wants of a lock: more than there can be shared holders. */
  public static final long ALL_OF_A_LOCK = 1L << 31;

  private GrantRule() {}

  /** {@link LockStore#attempt}. */
  public static Standing attempt(LockState state, Claim claim, long now) {
    settle(state, now);
    Standing standing = renew(state, claim.id(), now);
    if (standing != Standing.GONE
        || state.withdrawn.containsKey(claim.id())
        || state.holders.containsKey(claim.id())) {
      downgradeIfAsked(state, claim, now);
      return withLargerTokensIfAsked(state, claim, standing);
    }
    if (state.kind != null && !state.kind.takes(claim.mode())) {
      return new Standing.OtherKind(state.kind);
    }
    Entry entry = entryOf(claim, now);
    if (state.waiters.isEmpty() && fits(state, entry)) {
      return grant(state, entry.keptUntil(now + longest(claim)), now).held();
    }
    if (!claim.queues()) {
      return Standing.GONE;
    }
    if (state.waiters.size() >= state.maxWaiters) {
      return new Standing.Waiting(Duration.ofMillis(QUEUE_FULL_ASK_AGAIN_MILLIS));
    }
    state.queue(entry);
    return waiting(state, now);
  }

  /** {@link LockStore#renew} for one claim. */
  public static Standing renew(LockState state, ClaimId id, long now) {
    settle(state, now);
    Entry holder = state.holders.get(id);
    if (holder != null) {
      return holder.lingers() ? Standing.GONE : renewedHolder(state, holder, now);
    }
    Entry waiter = state.waiters.computeIfPresent(id, (key, entry) -> heardOf(entry, now));
    return waiter != null ? waiting(state, now) : Standing.GONE;
  }

  /** {@link LockStore#withdraw}. */
  public static void withdraw(LockState state, Claim claim, long now) {
    settle(state, now);
    endHold(state, claim, now);
    state.waiters.remove(claim.id());
    if (claim.unsettled()) {
      state.remember(claim.id(), now + Math.max(claim.leaseMillis(), WITHDRAWN_KEPT_MILLIS));
      forgetOldestBeyondBound(state);
    }
    serveQueue(state, now);
  }

  /** {@link Inspectable#evict}. */
  public static boolean evict(LockState state, long token, long now) {
    settle(state, now);
    boolean evicted =
        state.holders.values().removeIf(e -> e.token() <= token && token <= e.lastToken());
    serveQueue(state, now);
    return evicted;
  }

  /** {@link Inspectable#setKind}. */
  public static boolean setKind(LockState state, Kind kind, long now) {
    settle(state, now);
    boolean inUse = !state.holders.isEmpty() || !state.waiters.isEmpty();
    if (inUse && state.kind != null && state.kind.isSemaphore() != kind.isSemaphore()) {
      return false;
    }
    state.kind = kind;
    if (kind.isSemaphore()) {
      state.waiters.values().removeIf(entry -> units(entry.mode()) > kind.capacity());
    }
    serveQueue(state, now);
    return true;
  }

  private static void endHold(LockState state, Claim claim, long now) {
    Entry holder = state.holders.get(claim.id());
    if (holder == null) {
      return;
    }
    long owed = holdsUntil(holder, Math.min(claim.minHoldMillis(), holder.minHoldMillis()), now);
    if (owed > now) {
      state.hold(holder.lingeringUntil(owed));
    } else {
      state.holders.remove(claim.id());
    }
  }

  /** A clock that was set back must not stretch it. */
  private static long holdsUntil(Entry holder, long minHoldMillis, long now) {
    return Math.min(holder.since(), now) + minHoldMillis;
  }

  private static Standing renewedHolder(LockState state, Entry holder, long now) {
    long owed = holdsUntil(holder, holder.minHoldMillis(), now);
    Entry renewed = renewed(holder, now);
    state.holders.replace(holder.id(), renewed.keptUntil(Math.max(renewed.until(), owed)));
    return holder.held();
  }

  private static void downgradeIfAsked(LockState state, Claim claim, long now) {
    Entry holder = state.holders.get(claim.id());
    if (claim.mode() instanceof Mode.Shared
        && holder != null
        && !holder.lingers()
        && holder.mode() instanceof Mode.Exclusive) {
      state.holders.replace(claim.id(), holder.shared());
      serveQueue(state, now);
    }
  }

  /** See {@link io.pawl.spi.QuorumNode}: the hold goes on under tokens above the floor. */
  private static Standing withLargerTokensIfAsked(LockState state, Claim claim, Standing standing) {
    Entry holder = state.holders.get(claim.id());
    if (holder == null || holder.lingers() || claim.tokenFloor() < holder.token()) {
      return standing;
    }
    long above = Math.max(state.lastToken, claim.tokenFloor());
    Standing.Held held = Tokens.next(state.lock, above, claim.tokens());
    state.lastToken = held.lastToken();
    state.holders.replace(claim.id(), holder.withTokens(held));
    return held;
  }

  /** Drops what has run out by {@code now} and grants what can be granted. */
  public static void settle(LockState state, long now) {
    boolean changed = state.takeUnserved();
    if (state.dropEnded(now) || changed) {
      serveQueue(state, now);
    }
  }

  private static void serveQueue(LockState state, long now) {
    Iterator<Map.Entry<ClaimId, Entry>> queue = state.waiters.entrySet().iterator();
    while (queue.hasNext()) {
      Entry head = queue.next().getValue();
      if (!fits(state, head)) {
        return;
      }
      Entry granted = grant(state, head, now);
      queue.remove();
      state.noteGrant(granted);
    }
  }

  private static Entry grant(LockState state, Entry entry, long now) {
    long above = Math.max(state.lastToken, entry.tokenFloor());
    Entry granted = entry.granted(Tokens.next(state.lock, above, entry.tokens()), now);
    state.lastToken = granted.lastToken();
    if (state.kind == null) {
      state.kind = new Kind(entry.mode().capacity());
    }
    state.hold(granted);
    return granted;
  }

  /** By the state's kind: that of the claim may be older than a change. */
  private static boolean fits(LockState state, Entry entry) {
    long used = 0;
    for (Entry holder : state.holders.values()) {
      used += units(holder.mode());
    }
    Kind kind = state.kind;
    long all = kind != null && kind.isSemaphore() ? kind.capacity() : ALL_OF_A_LOCK;
    return used + units(entry.mode()) <= all;
  }

  /** A lock is a semaphore of which an exclusive claim wants all, and a shared one a little. */
  static long units(Mode mode) {
    if (mode instanceof Mode.Permits permits) {
      return permits.wanted();
    }
    return mode instanceof Mode.Shared ? 1 : ALL_OF_A_LOCK;
  }

  private static Standing waiting(LockState state, long now) {
    long next = Long.MAX_VALUE;
    for (Entry holder : state.holders.values()) {
      next = Math.min(next, holder.until());
    }
    return new Standing.Waiting(Duration.ofMillis(next - now));
  }

  /** Seldom a change: the state of a lock for which many wait is seldom written. */
  private static Entry heardOf(Entry waiter, long now) {
    long enough = Claim.keptWaitingMillis(waiter.leaseMillis());
    return waiter.until() - now < enough ? renewed(waiter, now) : waiter;
  }

  private static Entry renewed(Entry entry, long now) {
    return entry.keptUntil(Math.max(entry.until(), now + entry.leaseMillis()));
  }

  private static long longest(Claim claim) {
    return Math.max(claim.leaseMillis(), claim.minHoldMillis());
  }

  private static Entry entryOf(Claim claim, long now) {
    return new Entry(
        claim.id(),
        claim.mode(),
        claim.leaseMillis(),
        claim.tokens(),
        claim.tokenFloor(),
        claim.holder(),
        now,
        now + claim.leaseMillis(),
        0,
        0,
        claim.minHoldMillis(),
        false);
  }

  private static void forgetOldestBeyondBound(LockState state) {
    if (state.withdrawn.size() > MAX_WITHDRAWN) {
      Iterator<ClaimId> oldest = state.withdrawn.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
  }
}
