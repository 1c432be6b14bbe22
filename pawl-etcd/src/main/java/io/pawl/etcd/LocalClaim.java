package io.pawl.etcd;

import io.pawl.etcd.gateway.KeyValue;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

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

  /** How many attempts have no answer yet. Guarded as well. */
  int asked;

  /** When a claim that lingers or has to be removed is looked at next. */
  long dueAt;

  /** An attempt was sent and not answered, or its owner does not know. */
  volatile boolean doubtful;

  /** What attempts rely on that may still be on their way: written in the lock's turn. */
  final Set<String> passes = new HashSet<>();

  /** 0 until it is known. */
  volatile long createRevision;

  volatile long base;

  /** The etcd lease that keeps it for its shortest hold, whatever becomes of its client. */
  volatile @Nullable OwnLease own;

  /** The lease on which its lock's kind was put for its sake, 0 if it was not. */
  volatile long kindLease;

  /** Its removal is under way. */
  volatile boolean removing;

  private volatile Version version;

  /** The largest mod revision that a change of its key has compared, see {@link Rewrites}. */
  private final AtomicLong compared = new AtomicLong();

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
    this.version = new Version(0, 0, claim.mode(), false, false);
    this.heardAt = now;
  }

  String lock() {
    return claim.lock();
  }

  /** Whether its client has not spoken of it for its lease, nor waits for an answer. */
  boolean hasFallenSilent(long now) {
    return stage == Stage.ALIVE && asked == 0 && now - heardAt >= claim.lease().toNanos();
  }

  /**
   * Its key as it was put.
   *
   * @param modRevision when; 0 if it was not, as far as is known
   * @param lease to which it was attached
   * @param granted whether it is held whatever stands before it
   * @param ended whether it was withdrawn, and stands for its shortest hold alone
   */
  record Version(long modRevision, long lease, Mode mode, boolean granted, boolean ended) {

    static Version of(KeyValue key) {
      StoredClaim stored = StoredClaim.parse(key);
      return new Version(
          key.modRevision(), key.lease(), stored.mode(), stored.granted(), stored.ended());
    }
  }

  /**
   * A lease that nobody keeps alive.
   *
   * @param until when it ends at the earliest, in terms of {@link System#nanoTime}
   */
  record OwnLease(long id, long until) {}

  /** Its key as this client knows it. */
  Version version() {
    return version;
  }

  synchronized void learn(Version seen) {
    if (seen.modRevision > version.modRevision) {
      version = seen;
    }
  }

  /** A change that compares {@code modRevision} is about to be sent. */
  void willCompare(long modRevision) {
    compared.accumulateAndGet(modRevision, Math::max);
  }

  /** Whether no change that was sent can take effect on its key as it was put at a revision. */
  boolean isSettled(long modRevision) {
    return modRevision > compared.get();
  }

  /** As what it is stored. */
  Mode mode() {
    return version().mode;
  }

  /** Its value, as far as it is not ended. */
  StoredClaim stored(Version as) {
    StoredClaim stored = StoredClaim.of(claim, base, since).as(as.mode);
    return as.granted ? stored.asGranted() : stored;
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

  /** Whether its shortest hold may be longer than what its client was promised of its lease. */
  boolean outlastsItsLease() {
    return heardOf
        && !claim.minHold().isZero()
        && minHoldOverAt() - (heardAt + claim.lease().toNanos()) > 0;
  }

  /**
   * Whether the shared lease has to be left to it: for its client's sake, or its shortest hold's.
   */
  boolean needsTheSharedLease(long now) {
    return stage == Stage.ALIVE || (keepsItsShortestHold(now) && !isOnItsOwn());
  }

  private boolean isOnItsOwn() {
    OwnLease lease = own;
    Version known = version();
    return lease != null && known.lease == lease.id && isSettled(known.modRevision);
  }

  /** Whether it stands in the way though its client may have fallen silent. */
  boolean keepsItsShortestHold(long now) {
    return heardOf && !claim.minHold().isZero() && now - minHoldOverAt() < 0;
  }
}
