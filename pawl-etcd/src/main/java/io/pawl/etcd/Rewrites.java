package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.LocalClaim.OwnLease;
import io.pawl.etcd.LocalClaim.Version;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.Mode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;

/**
 * Changes the keys of claims that are alive: puts them on the etcd lease that keeps what their
 * clients are told, and makes writers readers. Thread-safe.
 *
 * <h2>No change comes late</h2>
 *
 * A change puts what was read of the key, but for what is to change, and compares the revision at
 * which that was put. Its number is noted before it is sent. A claim's standing is told only where
 * its key was put at a <em>later</em> revision than any that was noted; otherwise the key is put
 * once more, as it is, and told when that was answered. So when a client is told of its claim, no
 * copy of an earlier change can take effect any more, answered or not.
 *
 * <p>Two requests may ask for one claim at the same time. After the number was noted, and before
 * the change is sent, it is checked again whether the lease it leads to keeps what whoever asked
 * last will be told. An asker whose question came before the check is thus kept by that lease. One
 * whose question came later finds the number noted, and puts the key itself.
 */
final class Rewrites {

  /** How often a key may turn out to be another than was believed. */
  private static final int MOST_TRIES = 5;

  private static final long SECOND_NANOS = 1_000_000_000;

  private final Gateway gateway;
  private final Keys keys;
  private final Kinds kinds;
  private final LongConsumer sawRevision;

  /**
   * @param sawRevision hears of the revisions of answers
   */
  Rewrites(Gateway gateway, Keys keys, Kinds kinds, LongConsumer sawRevision) {
    this.gateway = gateway;
    this.keys = keys;
    this.kinds = kinds;
    this.sawRevision = sawRevision;
  }

  /**
   * Sees to it that a claim is on a lease that keeps it for what its client is about to be told:
   * the shared one, or one of its own that lasts as long as its shortest hold. No round trip where
   * it is; else one, and one more for a lease of its own.
   *
   * @param lease on which its key was seen
   * @param modRevision at which the key was put so
   * @return whether it is still there, and its client's
   */
  CompletableFuture<Boolean> keep(LocalClaim local, long lease, long modRevision) {
    return keep(local, lease, modRevision, MOST_TRIES);
  }

  private CompletableFuture<Boolean> keep(
      LocalClaim local, long seenLease, long seenRevision, int tries) {
    Version known = local.version();
    boolean isOutdated = known.modRevision() > seenRevision;
    long lease = isOutdated ? known.lease() : seenLease;
    long modRevision = isOutdated ? known.modRevision() : seenRevision;
    if (isRight(local, lease) && local.isSettled(modRevision)) {
      return CompletableFuture.completedFuture(true);
    }
    if (tries == 0) {
      return CompletableFuture.failedFuture(restless(local));
    }
    CompletableFuture<Long> wanted =
        local.held && local.outlastsItsLease()
            ? ownLease(local)
            : local.lease.fresh(local.claim.leaseMillis());
    return wanted.thenCompose(
        id ->
            id == lease && local.isSettled(modRevision)
                ? CompletableFuture.completedFuture(true)
                : put(local, id, tries));
  }

  private StoreUnavailableException restless(LocalClaim local) {
    return new StoreUnavailableException(
        "store '" + gateway.target() + "': a claim for '" + local.lock() + "' keeps changing");
  }

  /**
   * Whether {@code lease} keeps the claim for what whoever asked last is told: which is that it is
   * held, if it is by now, whatever an earlier asker has seen.
   */
  private static boolean isRight(LocalClaim local, long lease) {
    if (local.held && local.outlastsItsLease()) {
      OwnLease own = local.own;
      return own != null && own.id() == lease && own.until() - local.minHoldOverAt() >= 0;
    }
    return local.lease.keeps(lease, local.claim.leaseMillis(), local.heardAt);
  }

  /** A lease that keeps it for its shortest hold. One round trip for the first time. */
  CompletableFuture<Long> ownLease(LocalClaim local) {
    long until = local.minHoldOverAt();
    OwnLease own = local.own;
    if (own != null && own.until() - until >= 0) {
      return CompletableFuture.completedFuture(own.id());
    }
    long left = Math.max(0, until - System.nanoTime());
    long seconds = (left + left / 50) / SECOND_NANOS + 2; // etcd's clock may run faster
    return SharedLease.grant(gateway, seconds)
        .thenApply(
            kept -> {
              local.own = new OwnLease(kept.id(), until);
              return kept.id();
            });
  }

  private CompletableFuture<Boolean> put(LocalClaim local, long lease, int tries) {
    Version from = local.version();
    if (from.ended()) {
      return CompletableFuture.completedFuture(false);
    }
    local.willCompare(from.modRevision());
    if (!isRight(local, lease)) {
      return keep(local, from.lease(), from.modRevision(), tries - 1);
    }
    return gateway
        .txn(
            Txn.of(
                List.of(Txn.isUnchanged(local.key, from.modRevision())),
                List.of(Txn.put(local.key, local.stored(from).text(), lease)),
                List.of(Txn.get(local.key))))
        .handle(
            (reply, error) ->
                error == null
                    ? answered(local, from, lease, reply, tries)
                    : failed(local, from, lease, Failures.cause(error), tries))
        .thenCompose(still -> still);
  }

  private CompletableFuture<Boolean> answered(
      LocalClaim local, Version from, long lease, TxnReply reply, int tries) {
    sawRevision.accept(reply.revision());
    if (reply.succeeded()) {
      local.learn(new Version(reply.revision(), lease, from.mode(), from.granted(), false));
      return CompletableFuture.completedFuture(true);
    }
    if (!finds(local, reply.found(0))) {
      return CompletableFuture.completedFuture(false);
    }
    Version found = local.version();
    return keep(local, found.lease(), found.modRevision(), tries - 1);
  }

  /** A lease that is gone refuses the whole transaction: another is granted. */
  private CompletableFuture<Boolean> failed(
      LocalClaim local, Version from, long lease, Throwable error, int tries) {
    if (!RefusedException.is(error, Reason.LEASE_GONE)) {
      return CompletableFuture.failedFuture(error);
    }
    OwnLease own = local.own;
    if (own != null && own.id() == lease) {
      local.own = null;
    }
    return local
        .lease
        .check()
        .thenCompose(id -> keep(local, from.lease(), from.modRevision(), tries - 1));
  }

  /** Learns what was read of the claim's key; returns whether the claim is still there. */
  static boolean finds(LocalClaim local, List<KeyValue> found) {
    if (found.isEmpty() || found.get(0).createRevision() != local.createRevision) {
      return false;
    }
    local.learn(Version.of(found.get(0)));
    return true;
  }

  /**
   * Makes a held writer a reader. The kind is put anew as well, which tells those who wait.
   *
   * @return whether it is still there
   */
  CompletableFuture<Boolean> downgrade(LocalClaim local) {
    return downgrade(local, MOST_TRIES);
  }

  private CompletableFuture<Boolean> downgrade(LocalClaim local, int tries) {
    Version from = local.version();
    if (from.mode() instanceof Mode.Shared) {
      return CompletableFuture.completedFuture(true);
    }
    if (tries == 0) {
      return CompletableFuture.failedFuture(
          new StoreException("lock '" + local.lock() + "': its kind keeps changing; try again"));
    }
    StoredKind kind = kinds.of(local.lock(), Mode.SHARED).kind();
    local.willCompare(from.modRevision());
    return kinds
        .on(kind, lease -> gateway.txn(downgrade(local, from, kind, lease)))
        .thenCompose(reply -> downgraded(local, from, kind, reply, tries));
  }

  private Txn downgrade(LocalClaim local, Version from, StoredKind kind, long kindLease) {
    String kindKey = keys.kind(local.lock());
    StoredClaim reader = local.stored(from).as(Mode.SHARED).asGranted();
    return Txn.of(
        List.of(
            Txn.isUnchanged(local.key, from.modRevision()), Txn.hasValue(kindKey, kind.toString())),
        List.of(
            Txn.put(local.key, reader.text(), from.lease()),
            Txn.put(kindKey, kind.toString(), kindLease)),
        List.of(Txn.get(local.key), Txn.get(kindKey)));
  }

  private CompletableFuture<Boolean> downgraded(
      LocalClaim local, Version from, StoredKind kind, TxnReply reply, int tries) {
    sawRevision.accept(reply.revision());
    if (reply.succeeded()) {
      local.learn(new Version(reply.revision(), from.lease(), Mode.SHARED, true, false));
      return CompletableFuture.completedFuture(true);
    }
    if (!finds(local, reply.found(0))) {
      return CompletableFuture.completedFuture(false);
    }
    if (!reply.found(1).isEmpty()) {
      kinds.learn(local.lock(), StoredKind.parse(reply.found(1).get(0)), 0);
      return downgrade(local, tries - 1);
    }
    String kindKey = keys.kind(local.lock());
    return kinds
        .on(
            kind,
            lease ->
                gateway.txn(
                    Txn.of(
                        List.of(Txn.isAbsent(kindKey)),
                        List.of(Txn.put(kindKey, kind.toString(), lease)),
                        List.of())))
        .thenCompose(put -> downgrade(local, tries - 1));
  }
}
