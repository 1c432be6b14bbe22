package io.pawl.etcd;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.LocalClaim.OwnLease;
import io.pawl.etcd.LocalClaim.Version;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Ends claims. One transaction deletes the key of a claim, and the passes of its attempts that were
 * not answered, which can never take effect from then on. A key that tells a late attempt of its
 * withdrawal is a courtesy, of a minute or two: without space for it etcd only deletes.
 *
 * <p>Called in the turn of the lock. Thread-safe.
 */
final class Withdrawals {

  /** How often a claim's key may turn out to be another than was believed. */
  private static final int MOST_TRIES = 5;

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
        return linger(local, MOST_TRIES)
            .exceptionallyCompose(error -> stays(local, Failures.cause(error)));
      }
    }
    return remove(local);
  }

  private CompletableFuture<Void> remove(LocalClaim local) {
    return remembered(local, tomb -> gateway.txn(removal(local, tomb)))
        .thenAccept(reply -> deleted(local, reply))
        .exceptionally(
            error -> {
              if (!isRefusedForGood(local, Failures.cause(error))) {
                throw SharedLease.asUnchecked(error);
              }
              return null;
            })
        .thenRun(() -> claims.gone(local));
  }

  /** Whether etcd, which refuses its withdrawal, has refused all its attempts before. */
  private static boolean isRefusedForGood(LocalClaim local, Throwable error) {
    return error instanceof StoreDeniedException && !local.isKnown() && local.passes.isEmpty();
  }

  private void deleted(LocalClaim local, TxnReply reply) {
    standings.sawRevision(reply.revision());
    local.passes.forEach(local.lease::isVoid);
  }

  /** Runs a request with the lease for what tells a late attempt, or with 0 for none. */
  private CompletableFuture<TxnReply> remembered(
      LocalClaim local, LongFunction<CompletableFuture<TxnReply>> request) {
    return local.doubtful
        ? tombs
            .with(request)
            .exceptionallyCompose(
                error ->
                    refusesTheTomb(Failures.cause(error))
                        ? request.apply(0)
                        : CompletableFuture.failedFuture(error))
        : request.apply(0);
  }

  private static boolean refusesTheTomb(Throwable error) {
    return RefusedException.is(error, Reason.LEASE_GONE)
        || RefusedException.is(error, Reason.NO_SPACE);
  }

  /**
   * Deletes a claim. An attempt in doubt may have made it again, after it was evicted, say.
   *
   * @param tomb the lease for the key that tells a late attempt of a withdrawal; 0 for no such key
   */
  private Txn removal(LocalClaim local, long tomb) {
    Txn.Compare is =
        local.isKnown() && local.passes.isEmpty()
            ? Txn.isOf(local.key, local.createRevision)
            : Txn.exists(local.key);
    List<Txn.Op> anyway = ends(local, tomb);
    List<Txn.Op> both = new ArrayList<>(anyway);
    both.add(Txn.delete(local.key));
    return Txn.of(List.of(is), both, anyway);
  }

  /** What ends every attempt that is still on its way. */
  private List<Txn.Op> ends(LocalClaim local, long tomb) {
    List<Txn.Op> ends = new ArrayList<>();
    local.passes.forEach(pass -> ends.add(Txn.delete(pass)));
    if (tomb != 0) {
      ends.add(Txn.put(keys.withdrawn(local.lock(), local.claim.id()), "", tomb));
    }
    return ends;
  }

  /** Leaves a claim on a lease of its own until its shortest hold is over. */
  private CompletableFuture<Void> linger(LocalClaim local, int tries) {
    long until = local.minHoldOverAt();
    Version from = local.version();
    local.willCompare(from.modRevision());
    return standings
        .rewrites()
        .ownLease(local)
        .thenCompose(
            lease ->
                remembered(local, tomb -> gateway.txn(ending(local, from, lease, tomb)))
                    .whenComplete((reply, error) -> local.own = hasLease(local, error))
                    .thenCompose(reply -> lingers(local, from, lease, until, reply, tries)));
  }

  /** Without space for a change the claim stands as it is, until this client deletes it. */
  private CompletableFuture<Void> stays(LocalClaim local, Throwable error) {
    if (!RefusedException.is(error, Reason.NO_SPACE)) {
      return CompletableFuture.failedFuture(error);
    }
    claims.lingers(local, local.minHoldOverAt());
    return CompletableFuture.completedFuture(null);
  }

  /** Its own lease, unless etcd no longer has it: the next try has another granted. */
  private static @Nullable OwnLease hasLease(LocalClaim local, @Nullable Throwable error) {
    return error != null && RefusedException.is(Failures.cause(error), Reason.LEASE_GONE)
        ? null
        : local.own;
  }

  private Txn ending(LocalClaim local, Version from, long lease, long tomb) {
    List<Txn.Op> puts = ends(local, tomb);
    List<Txn.Op> finds = ends(local, tomb);
    puts.add(Txn.put(local.key, local.stored(from).asEnded().text(), lease));
    finds.add(Txn.get(local.key));
    return Txn.of(List.of(Txn.isUnchanged(local.key, from.modRevision())), puts, finds);
  }

  private CompletableFuture<Void> lingers(
      LocalClaim local, Version from, long lease, long until, TxnReply reply, int tries) {
    deleted(local, reply);
    if (reply.succeeded()) {
      local.passes.clear();
      local.doubtful = false;
      local.learn(new Version(reply.revision(), lease, from.mode(), from.granted(), true));
      claims.lingers(local, until);
      return CompletableFuture.completedFuture(null);
    }
    if (!Rewrites.finds(local, reply.found(reply.results().size() - 1))) {
      return remove(local);
    }
    return tries > 0
        ? linger(local, tries - 1)
        : CompletableFuture.failedFuture(
            new StoreUnavailableException(
                "store '"
                    + gateway.target()
                    + "': a claim for '"
                    + local.lock()
                    + "' keeps changing"));
  }
}
