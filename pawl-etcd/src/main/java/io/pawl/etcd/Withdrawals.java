package io.pawl.etcd;

import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import io.pawl.etcd.gateway.Txn;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Ends claims. One transaction deletes the key of a claim, and the passes of its attempts that were
 * not answered, which can never take effect from then on. A key that tells a late attempt of its
 * withdrawal is a courtesy, of a minute or two: without space for it etcd only deletes.
 *
 * <p>Called in the turn of the lock. Thread-safe.
 */
final class Withdrawals {

  private static final long TOMB_SECONDS = TimeUnit.MINUTES.toSeconds(2);

  private final Gateway gateway;
  private final Keys keys;
  private final Claims claims;
  private final Standings standings;
  private final PassingLease tombs;

  Withdrawals(Gateway gateway, Keys keys, Claims claims, Standings standings) {
    this.gateway = gateway;
    this.keys = keys;
    this.claims = claims;
    this.standings = standings;
    this.tombs = new PassingLease(gateway, TOMB_SECONDS);
  }

  /**
   * Removes a claim that was withdrawn, or fell silent. One trip, and one more where a lease has to
   * be granted first.
   */
  CompletableFuture<Void> of(LocalClaim local) {
    if (claims.isLingering(local)) {
      return CompletableFuture.completedFuture(null);
    }
    if (local.held && !local.claim.minHold().isZero()) {
      local.beginShortestHold();
      long left = local.minHoldOverAt() - System.nanoTime();
      if (left > 0) {
        return linger(local, left);
      }
    }
    CompletableFuture<Long> remembered =
        local.doubtful ? tombs.current() : CompletableFuture.completedFuture(0L);
    Txn.Op end = Txn.delete(local.key);
    return remembered
        .thenCompose(tomb -> gateway.txn(removal(local, end, tomb)))
        .exceptionallyCompose(
            error ->
                refusesTheTomb(Failures.cause(error))
                    ? gateway.txn(removal(local, end, 0))
                    : CompletableFuture.failedFuture(error))
        .thenAccept(
            reply -> {
              standings.sawRevision(reply.revision());
              local.passes.forEach(local.lease::isVoid);
              claims.gone(local);
            });
  }

  private boolean refusesTheTomb(Throwable error) {
    if (RefusedException.is(error, Reason.LEASE_GONE)) {
      tombs.isGone();
      return true;
    }
    return RefusedException.is(error, Reason.NO_SPACE);
  }

  /**
   * Ends a claim with {@code end}, and every attempt of it that is still on its way.
   *
   * @param tomb the lease for the key that tells a late attempt of a withdrawal; 0 for no such key
   */
  private Txn removal(LocalClaim local, Txn.Op end, long tomb) {
    Txn.Compare is =
        local.isKnown() ? Txn.isOf(local.key, local.createRevision) : Txn.exists(local.key);
    List<Txn.Op> anyway = new ArrayList<>();
    local.passes.forEach(pass -> anyway.add(Txn.delete(pass)));
    if (tomb != 0) {
      anyway.add(Txn.put(keys.withdrawn(local.lock(), local.claim.id()), "", tomb));
    }
    List<Txn.Op> both = new ArrayList<>(anyway);
    both.add(end);
    return Txn.of(List.of(is), both, anyway);
  }

  private CompletableFuture<Void> linger(LocalClaim local, long leftNanos) {
    long until = local.minHoldOverAt();
    CompletableFuture<Long> lease =
        local.ownLeaseUntil != 0
            ? CompletableFuture.completedFuture(local.etcdLease)
            : SharedLease.grant(gateway, leftNanos / 1_000_000_000 + 2)
                .thenApply(SharedLease.Kept::id);
    CompletableFuture<Long> tomb =
        local.doubtful ? tombs.current() : CompletableFuture.completedFuture(0L);
    return lease
        .thenCombine(
            tomb,
            (on, remembered) ->
                removal(local, Txn.put(local.key, local.stored().asEnded().text(), on), remembered))
        .thenCompose(gateway::txn)
        .thenAccept(
            reply -> {
              standings.sawRevision(reply.revision());
              local.passes.forEach(local.lease::isVoid);
              local.passes.clear();
              local.doubtful = false;
              claims.lingers(local, until);
            });
  }
}
