package io.pawl.etcd;

import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.LocalClaim.Stage;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one client that etcd may have. Claims share a lease that this client keeps alive,
 * so a claim that its owner no longer speaks of has to be removed by this client; the lease does it
 * when the client is gone. Whatever was sent stays here until it was seen gone. Thread-safe.
 */
final class Claims {

  /** So many claims that ended could not be removed: new ones are refused. */
  private static final int MOST_OWED = 10_000;

  private static final long RETRY_NANOS = 1_000_000_000;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<ClaimId, LocalClaim> byId = new HashMap<>();
  private final Leases leases;
  private final Keys keys;
  private final String store;
  private int owed;

  Claims(Leases leases, Keys keys, String store) {
    this.leases = leases;
    this.keys = keys;
    this.store = store;
  }

  /**
   * An attempt is about to be sent, whose client waits until it was {@link #answered}.
   *
   * @return null if the claim has ended
   * @throws StoreUnavailableException if too many ended claims could not be removed
   */
  @Nullable LocalClaim attempted(Claim claim, Bell bell) {
    long now = System.nanoTime();
    mutex.lock();
    try {
      LocalClaim known = byId.get(claim.id());
      if (known != null) {
        if (known.stage != Stage.ALIVE) {
          return null;
        }
        known.heardAt = now;
        known.asked++;
        known.claim = claim;
        known.bell = bell;
        return known;
      }
      if (owed >= MOST_OWED) {
        throw StoreUnavailableException.unsent(
            "store '" + store + "': " + owed + " claims that ended could not be removed yet", null);
      }
      LocalClaim made =
          new LocalClaim(
              claim,
              bell,
              keys.claim(claim.lock(), claim.mode(), claim.id()),
              leases.of(claim.leaseMillis()),
              Instant.now(),
              now);
      made.asked++;
      byId.put(claim.id(), made);
      return made;
    } finally {
      mutex.unlock();
    }
  }

  /** An attempt has its answer, or failed. */
  void answered(LocalClaim local) {
    mutex.lock();
    try {
      local.asked--;
    } finally {
      mutex.unlock();
    }
  }

  /** A renewal is about to be sent; null if the claim has ended, or never began. */
  @Nullable LocalClaim renewed(Claim claim) {
    mutex.lock();
    try {
      LocalClaim known = byId.get(claim.id());
      if (known == null || known.stage != Stage.ALIVE) {
        return null;
      }
      known.heardAt = System.nanoTime();
      return known;
    } finally {
      mutex.unlock();
    }
  }

  /** Whether nobody has ended the claim, so that an answer about it may be believed. */
  boolean isAlive(LocalClaim local) {
    mutex.lock();
    try {
      return local.stage == Stage.ALIVE && byId.get(local.claim.id()) == local;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * A withdrawal is about to be sent. Without a shortest hold it ends also what was left to stand
   * for one since its client fell silent: nobody worked under it.
   */
  LocalClaim withdrawn(Claim claim) {
    long now = System.nanoTime();
    mutex.lock();
    try {
      LocalClaim known = byId.get(claim.id());
      if (known == null) {
        known =
            new LocalClaim(
                claim,
                standing -> {},
                keys.claim(claim.lock(), claim.mode(), claim.id()),
                leases.of(claim.leaseMillis()),
                Instant.now(),
                now);
        byId.put(claim.id(), known);
      }
      known.claim = claim;
      known.doubtful |= claim.unsettled();
      boolean unused = known.stage == Stage.LINGERING && claim.minHold().isZero();
      if (known.stage == Stage.ALIVE || unused) {
        ends(known, now + RETRY_NANOS);
      }
      return known;
    } finally {
      mutex.unlock();
    }
  }

  private void ends(LocalClaim local, long dueAt) {
    local.stage = Stage.ENDING;
    local.dueAt = dueAt;
    owed++;
  }

  boolean isLingering(LocalClaim local) {
    mutex.lock();
    try {
      return local.stage == Stage.LINGERING;
    } finally {
      mutex.unlock();
    }
  }

  /** It was withdrawn, and is to be removed at {@code until}. */
  void lingers(LocalClaim local, long until) {
    mutex.lock();
    try {
      if (local.stage == Stage.ENDING) {
        owed--;
        local.stage = Stage.LINGERING;
        local.dueAt = until;
      }
    } finally {
      mutex.unlock();
    }
  }

  /** It was seen gone, or was never there. */
  void gone(LocalClaim local) {
    mutex.lock();
    try {
      if (byId.remove(local.claim.id(), local) && local.stage == Stage.ENDING) {
        owed--;
      }
    } finally {
      mutex.unlock();
    }
  }

  /** It was seen gone while its owner believed in it. One in doubt is to be withdrawn soon. */
  void vanished(LocalClaim local) {
    mutex.lock();
    try {
      if (local.stage != Stage.ALIVE || byId.get(local.claim.id()) != local) {
        return;
      }
      if (local.doubtful) {
        ends(local, System.nanoTime());
      } else {
        byId.remove(local.claim.id());
      }
    } finally {
      mutex.unlock();
    }
  }

  /** What to do at a moment. */
  record Work(List<LocalClaim> remove, Set<SharedLease> used, boolean isIdle) {}

  /** Ends claims whose owners fell silent, and returns what is to be removed by now. */
  Work work(long now) {
    List<LocalClaim> remove = new ArrayList<>();
    Set<SharedLease> used = new HashSet<>();
    mutex.lock();
    try {
      for (LocalClaim local : byId.values()) {
        if (local.hasFallenSilent(now)) {
          ends(local, now);
          if (local.keepsItsShortestHold(now)) {
            owed--;
            local.stage = Stage.LINGERING;
            local.dueAt = local.minHoldOverAt();
          } else { // its shortest hold is over, or its client has never heard of its grant
            local.claim = local.claim.withMinHold(Duration.ZERO);
          }
        }
        if (local.needsTheSharedLease(now)) {
          used.add(local.lease);
        }
        if (local.stage != Stage.ALIVE && now - local.dueAt >= 0 && !local.removing) {
          if (local.stage == Stage.LINGERING) {
            ends(local, now);
          }
          local.dueAt = now + RETRY_NANOS;
          remove.add(local);
        }
      }
      return new Work(remove, used, byId.isEmpty());
    } finally {
      mutex.unlock();
    }
  }

  /** The claims that are held, as far as is known, or stand for their shortest hold. */
  List<LocalClaim> held() {
    mutex.lock();
    try {
      return byId.values().stream()
          .filter(local -> local.stage != Stage.ENDING && local.held)
          .toList();
    } finally {
      mutex.unlock();
    }
  }

  /** The leases that may not be revoked: whoever needs them is not done with them. */
  Set<SharedLease> inUse() {
    long now = System.nanoTime();
    Set<SharedLease> used = new HashSet<>();
    mutex.lock();
    try {
      for (LocalClaim local : byId.values()) {
        if (local.needsTheSharedLease(now)) {
          used.add(local.lease);
        }
      }
      return used;
    } finally {
      mutex.unlock();
    }
  }
}
