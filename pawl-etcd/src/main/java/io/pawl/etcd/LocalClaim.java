package io.pawl.etcd;

import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

/**
 * What this client knows of one of its claims, from the first attempt until the store has seen it
 * gone. Fields are guarded by the mutex of {@link Claims} unless they never change, or are written
 * only in the lock's {@linkplain Turns turn}.
 */
final class LocalClaim {

  /** How far it has come. */
  enum Stage {
    /** It is kept alive: it was asked for, waits or is held. */
    ALIVE,
    /** It is to be removed. */
    ENDING,
    /** It was withdrawn before its shortest hold was over. */
    LINGERING
  }

  final String key;
  final SharedLease lease;
  final Instant since;
  volatile Claim claim;
  volatile Bell bell;

  /** Guarded: see {@link Claims}. */
  Stage stage = Stage.ALIVE;

  /** When its client was last heard of, in terms of {@link System#nanoTime}. */
  volatile long heardAt;

  /** When a claim that lingers or has to be removed is looked at next. */
  long dueAt;

  /** An attempt was sent and not answered, or its owner does not know. */
  volatile boolean doubtful;

  /** What attempts rely on that may still be on their way: written in the lock's turn. */
  final Set<String> passes = new HashSet<>();

  /** 0 until it is known. */
  volatile long createRevision;

  volatile long base;

  /** The etcd lease that the key is attached to, 0 until it is known. */
  volatile long etcdLease;

  /** Until when that lease keeps it without being kept alive; 0 for the shared one. */
  volatile long ownLeaseUntil;

  /** As it is stored. */
  volatile Mode mode;

  volatile boolean granted;

  volatile boolean held;

  /** When its client was first heard of after its grant. */
  private volatile long grantedAt;

  private volatile boolean heardOf;

  LocalClaim(Claim claim, Bell bell, String key, SharedLease lease, Instant since, long now) {
    this.claim = claim;
    this.bell = bell;
    this.key = key;
    this.lease = lease;
    this.since = since;
    this.mode = claim.mode();
    this.heardAt = now;
  }

  String lock() {
    return claim.lock();
  }

  /** Its value, as far as it is not ended. */
  StoredClaim stored() {
    StoredClaim stored = StoredClaim.of(claim, base, since).as(mode);
    return granted ? stored.asGranted() : stored;
  }

  boolean isKnown() {
    return createRevision != 0;
  }

  /** Its client was heard of, and it is held: its shortest hold counts at the latest from now. */
  void beginShortestHold() {
    if (!heardOf) {
      grantedAt = System.nanoTime();
      heardOf = true;
    }
  }

  /** When its shortest hold is over, once it has begun. */
  long minHoldOverAt() {
    return grantedAt + claim.minHoldMillis() * 1_000_000;
  }

  /** Whether it stands in the way though its client may have fallen silent. */
  boolean keepsItsShortestHold(long now) {
    return heardOf && !claim.minHold().isZero() && now - minHoldOverAt() < 0;
  }
}
