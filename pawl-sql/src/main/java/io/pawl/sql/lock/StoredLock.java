package io.pawl.sql.lock;

import io.pawl.error.StoreException;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.rule.GrantRule;
import io.pawl.spi.rule.LockState;
import io.pawl.spi.rule.LockState.Entry;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock as it is stored.
 *
 * @param waiters the rows of the claims that wait for it, the next first; a claim whose INSERT came
 *     a second time, late, stands in two of them: it waits where it first stood, until the later
 *     time; or in one of them beside its hold: it does not wait
 */
public record StoredLock(Row row, List<WaiterRow> waiters) {

  private static final Logger log = LoggerFactory.getLogger(StoredLock.class);

  /** How many claims may stand in the queue for one lock: all are read whenever one is served. */
  public static final int MAX_WAITERS = 1_000;

  /** A time for {@link #state} that ends nothing. */
  private static final long NO_CLOCK = Long.MAX_VALUE / 2;

  /** One that nobody waits for, or where those who wait do not matter. */
  static StoredLock alone(Row row) {
    return new StoredLock(row, new ArrayList<>());
  }

  /**
   * The state that the rows hold.
   *
   * @throws StoreException where they cannot be read
   * @param now the store's time; no entry lasts longer than its lease or shortest hold from here,
   *     should the clock have been set back
   */
  public LockState state(long now) {
    try {
      Kind kind = row.readKind();
      Collection<Entry> holders = row.readHolders(now);
      Map<ClaimId, Long> withdrawn = row.readWithdrawn();
      Map<ClaimId, Entry> queue = new LinkedHashMap<>();
      for (WaiterRow waiter : waiters) {
        for (Entry claim : waiter.readClaims()) {
          if (!withdrawn.containsKey(claim.id()) && mayWait(kind, claim)) {
            queue.merge(claim.id(), claim.endingBy(now + claim.longestMillis()), StoredLock::later);
          }
        }
      }
      holders.forEach(holder -> queue.remove(holder.id()));
      return new LockState(
          row.name(), kind, row.lastToken(), holders, queue.values(), withdrawn, MAX_WAITERS);
    } catch (
        RuntimeException e) { // of the parser, of numbers, times or words that it does not know
      throw new StoreException(
          "lock '"
              + row.name()
              + "': its rows in tables pawl_lock and pawl_waiter cannot be read ("
              + e.getMessage()
              + "); were they written by a newer Pawl, then upgrade; or edited, then set holders"
              + " and withdrawn to [] and delete those who wait",
          e);
    }
  }

  private static Entry later(Entry first, Entry again) {
    return again.until() > first.until() ? again : first;
  }

  /** Whoever joined a lock while that became a semaphore is nobody there, as one withdrawn is. */
  private static boolean mayWait(@Nullable Kind kind, Entry entry) {
    boolean ofSemaphore = entry.mode() instanceof Mode.Permits;
    return kind == null || kind.isSemaphore() == ofSemaphore;
  }

  /**
   * As {@link #state}, for a look whose result nothing depends on; null where it is not readable.
   */
  @Nullable LockState glance() {
    return glance(NO_CLOCK);
  }

  /** {@code state} with what has ended by {@code now} gone, and the queue served if it can be. */
  static LockState settled(LockState state, long now) {
    try {
      GrantRule.settle(state, now);
    } catch (StoreException e) { // its tokens are used up
      log.debug("whoever waits is not served", e);
    }
    return state;
  }

  /** As {@link #state}; null where it is not readable. */
  public @Nullable LockState glance(long now) {
    try {
      return state(now);
    } catch (StoreException e) {
      log.debug("skipped at a look", e);
      return null;
    }
  }
}
