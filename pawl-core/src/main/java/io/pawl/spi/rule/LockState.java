package io.pawl.spi.rule;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Inspectable.ClaimView;
import io.pawl.spi.Inspectable.LockView;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that a store with a clock of its own knows of one lock: who holds, who waits in which order,
 * the last token, and the claims that were withdrawn before they arrived. {@link GrantRule} alone
 * changes it. Times are milliseconds on the store's clock. Not thread-safe.
 */
public final class LockState {

  /**
   * A claim in the state.
   *
   * @param since when it was granted, or stood in the queue
   * @param until when it is gone unless renewed
   * @param minHoldMillis how long its hold keeps the lock busy at least, from {@code since} on
   * @param lingers withdrawn by its owner, who no longer holds it; it stands in the way until its
   *     shortest hold is over
   * @param token the first token of a held claim, 0 for a waiting one
   * @param lastToken the last token of a held claim, 0 for a waiting one
   */
  public record Entry(
      ClaimId id,
      Mode mode,
      long leaseMillis,
      int tokens,
      long tokenFloor,
      Holder holder,
      long since,
      long until,
      long token,
      long lastToken,
      long minHoldMillis,
      boolean lingers) {

    Entry keptUntil(long newUntil) {
      return with(mode, since, newUntil, token, lastToken, lingers);
    }

    Entry granted(Standing.Held held, long now) {
      return with(mode, now, until, held.token(), held.lastToken(), false);
    }

    Entry lingeringUntil(long end) {
      return with(mode, since, end, token, lastToken, true);
    }

    Entry withTokens(Standing.Held held) {
      return with(mode, since, until, held.token(), held.lastToken(), lingers);
    }

    Entry shared() {
      return with(Mode.SHARED, since, until, token, lastToken, lingers);
    }

    private Entry with(
        Mode newMode,
        long newSince,
        long newUntil,
        long newToken,
        long newLastToken,
        boolean nowLingers) {
      return new Entry(
          id,
          newMode,
          leaseMillis,
          tokens,
          tokenFloor,
          holder,
          newSince,
          newUntil,
          newToken,
          newLastToken,
          minHoldMillis,
          nowLingers);
    }

    /** How long it lasts at most from the moment at which the store last heard of it. */
    public long longestMillis() {
      return token > 0 ? Math.max(leaseMillis, minHoldMillis) : leaseMillis;
    }

    /** As it is, but gone by {@code end}: for a clock that may have been set back. */
    public Entry endingBy(long end) {
      return until <= end ? this : keptUntil(end);
    }

    ClaimView view(long epochOffsetMillis) {
      Instant from = Instant.ofEpochMilli(since + epochOffsetMillis);
      Instant to = Instant.ofEpochMilli(until + epochOffsetMillis);
      return new ClaimView(id, mode, token, lastToken, from, to, holder);
    }

    Standing.Held held() {
      return new Standing.Held(token, lastToken);
    }
  }

  /**
   * A waiting claim that was granted.
   *
   * @param held its tokens, and who followed it in the queue
   */
  public record Grant(ClaimId id, Standing.Held held) {}

  final String lock;
  final int maxWaiters;
  @Nullable Kind kind;
  long lastToken;
  final LinkedHashMap<ClaimId, Entry> holders = new LinkedHashMap<>();
  final LinkedHashMap<ClaimId, Entry> waiters = new LinkedHashMap<>();
  final LinkedHashMap<ClaimId, Long> withdrawn = new LinkedHashMap<>();
  private List<Grant> grants = new ArrayList<>();

  /** Whoever waits may have joined a lock that has become free meanwhile. */
  private boolean unserved;

  /** Nothing runs out before this: spares the rule a scan of 10,000 waiters at every verb. */
  private long nothingEndsBefore = Long.MAX_VALUE;

  /** A lock that nobody has asked for yet, whose tokens start after {@code lastToken}. */
  public LockState(String lock, long lastToken) {
    this(lock, null, lastToken);
  }

  /**
   * A lock that nobody holds or waits for.
   *
   * @param kind null where it may become of any
   */
  public LockState(String lock, @Nullable Kind kind, long lastToken) {
    this(lock, kind, lastToken, GrantRule.MAX_WAITERS);
  }

  private LockState(String lock, @Nullable Kind kind, long lastToken, int maxWaiters) {
    this.lock = lock;
    this.kind = kind;
    this.lastToken = lastToken;
    this.maxWaiters = maxWaiters;
  }

  /**
   * A lock as it was stored, each list in order. Who waits need not have been served yet, where
   * claims join without a look at the holders.
   */
  public LockState(
      String lock,
      @Nullable Kind kind,
      long lastToken,
      Collection<Entry> holders,
      Collection<Entry> waiters,
      Map<ClaimId, Long> withdrawn) {
    this(lock, kind, lastToken, holders, waiters, withdrawn, GrantRule.MAX_WAITERS);
  }

  /**
   * As above, with a bound of its own.
   *
   * @param maxWaiters how many claims may stand in the queue: fewer than {@link
   *     GrantRule#MAX_WAITERS} for a store that reads the whole queue at every change
   */
  public LockState(
      String lock,
      @Nullable Kind kind,
      long lastToken,
      Collection<Entry> holders,
      Collection<Entry> waiters,
      Map<ClaimId, Long> withdrawn,
      int maxWaiters) {
    this(lock, kind, lastToken, maxWaiters);
    holders.forEach(this::hold);
    waiters.forEach(this::queue);
    withdrawn.forEach(this::remember);
    unserved = !waiters.isEmpty();
  }

  public String lock() {
    return lock;
  }

  /** What it is; null while no claim was ever granted. */
  public @Nullable Kind kind() {
    return kind;
  }

  public long lastToken() {
    return lastToken;
  }

  /** Held claims in the order of their grants. */
  public Collection<Entry> holders() {
    return Collections.unmodifiableCollection(holders.values());
  }

  /** Waiting claims, the next first. */
  public Collection<Entry> waiters() {
    return Collections.unmodifiableCollection(waiters.values());
  }

  /** Claims that must not be granted should they still arrive, with the time to forget them. */
  public Map<ClaimId, Long> withdrawn() {
    return Collections.unmodifiableMap(withdrawn);
  }

  public boolean isWaiting(ClaimId id) {
    return waiters.containsKey(id);
  }

  /** How many others stand before it in the queue; all, where it does not stand there. */
  public int waitersBefore(ClaimId id) {
    int before = 0;
    for (ClaimId waiter : waiters.keySet()) {
      if (waiter.equals(id)) {
        return before;
      }
      before++;
    }
    return before;
  }

  /**
   * For people.
   *
   * @param epochOffsetMillis what to add to the store's clock to get milliseconds since 1970
   */
  public LockView view(long epochOffsetMillis) {
    return new LockView(
        lock,
        kind,
        lastToken,
        holders.values().stream().map(entry -> entry.view(epochOffsetMillis)).toList(),
        waiters.values().stream().map(entry -> entry.view(epochOffsetMillis)).toList());
  }

  /** Nothing but its kind and the last token is worth keeping. */
  public boolean isIdle() {
    return holders.isEmpty() && waiters.isEmpty() && withdrawn.isEmpty();
  }

  /** The waiting claims that were granted since this was last asked: ring their bells. */
  public List<Grant> takeGrants() {
    if (grants.isEmpty()) {
      return List.of();
    }
    List<Grant> taken = grants;
    grants = new ArrayList<>();
    return taken;
  }

  void hold(Entry entry) {
    holders.put(entry.id(), entry);
    endsAt(entry.until());
  }

  void queue(Entry entry) {
    waiters.put(entry.id(), entry);
    endsAt(entry.until());
  }

  void remember(ClaimId id, long until) {
    withdrawn.put(id, until);
    endsAt(until);
  }

  /** Whether nobody has looked yet, since it was stored, whom to serve; then somebody does now. */
  boolean takeUnserved() {
    boolean was = unserved;
    unserved = false;
    return was;
  }

  /** Removes what has run out and says whether a holder or waiter was among it. */
  boolean dropEnded(long now) {
    if (now < nothingEndsBefore) {
      return false;
    }
    boolean dropped = holders.values().removeIf(entry -> entry.until() <= now);
    dropped |= waiters.values().removeIf(entry -> entry.until() <= now);
    withdrawn.values().removeIf(until -> until <= now);
    nothingEndsBefore = Long.MAX_VALUE;
    holders.values().forEach(entry -> endsAt(entry.until()));
    waiters.values().forEach(entry -> endsAt(entry.until()));
    withdrawn.values().forEach(this::endsAt);
    return dropped;
  }

  private void endsAt(long time) {
    nothingEndsBefore = Math.min(nothingEndsBefore, time);
  }

  void noteGrant(Entry entry) {
    grants.add(grantOf(entry));
  }

  /** The grant of a claim that is held, as it stands now. */
  public Grant grantOf(Entry holder) {
    return new Grant(
        holder.id(), new Standing.Held(holder.token(), holder.lastToken(), followers(holder)));
  }

  private List<ClaimId> followers(Entry holder) {
    List<ClaimId> followers = new ArrayList<>();
    if (holder.mode() instanceof Mode.Exclusive) {
      long most = Math.min(GrantRule.MAX_FOLLOWERS, holder.lastToken() - holder.token());
      Iterator<Entry> queue = waiters.values().iterator();
      while (followers.size() < most && queue.hasNext()) {
        Entry next = queue.next();
        if (!next.id().client().equals(holder.id().client())
            || !(next.mode() instanceof Mode.Exclusive)) {
          break;
        }
        followers.add(next.id());
      }
    }
    return followers;
  }
}
