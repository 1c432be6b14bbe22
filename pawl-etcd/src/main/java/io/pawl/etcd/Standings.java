package io.pawl.etcd;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.Look.Seen;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Says how claims stand, and does what a standing brings with it: tokens, a place among those that
 * are told, a lease of its own for a shortest hold. Thread-safe.
 */
final class Standings {

  private static final Standing.Waiting WAITING = new Standing.Waiting(Duration.ofSeconds(2));

  private final Gateway gateway;
  private final Keys keys;
  private final Kinds kinds;
  private final Look look;
  private final Claims claims;
  private final Bells bells;

  /** The largest that was seen: every later claim has a larger one. */
  private final AtomicLong revision = new AtomicLong();

  Standings(Gateway gateway, Keys keys, Kinds kinds, Look look, Claims claims) {
    this.gateway = gateway;
    this.keys = keys;
    this.kinds = kinds;
    this.look = look;
    this.claims = claims;
    this.bells =
        new Bells(
            gateway,
            keys,
            new Bells.Callbacks() {
              @Override
              public void granted(LocalClaim local) {
                ring(local);
              }

              @Override
              public void lookAgain(List<LocalClaim> locals) {
                Standings.this.lookAgain(locals);
              }
            });
  }

  Bells bells() {
    return bells;
  }

  long revision() {
    return revision.get();
  }

  void sawRevision(long seen) {
    revision.accumulateAndGet(seen, Math::max);
  }

  /**
   * An attempt repeated: keeps the claim alive, and makes a writer a reader where that is asked.
   */
  CompletableFuture<Standing> again(LocalClaim local) {
    Claim claim = local.claim;
    return local
        .lease
        .fresh(claim.leaseMillis())
        .thenCompose(lease -> look.at(List.of(local)))
        .thenCompose(
            seen -> {
              Seen one = seen.getOrDefault(local, new Seen.Absent());
              boolean reads =
                  claim.mode() instanceof Mode.Shared && local.mode instanceof Mode.Exclusive;
              return one instanceof Seen.Held held && reads
                  ? downgrade(local, held.etcdLease(), 3)
                      .thenCompose(still -> told(local, still ? held : new Seen.Absent()))
                  : told(local, one);
            });
  }

  /** The kind is put anew as well, which tells those who wait. */
  private CompletableFuture<Boolean> downgrade(LocalClaim local, long etcdLease, int tries) {
    Kinds.Known known = kinds.of(local.lock(), Mode.SHARED);
    StoredClaim reader = local.stored().as(Mode.SHARED).asGranted();
    String kindKey = keys.kind(local.lock());
    CompletableFuture<Long> lease =
        known.kind().base() == 0 ? kinds.lease().current() : CompletableFuture.completedFuture(0L);
    return lease
        .thenCompose(
            kindLease ->
                gateway.txn(
                    Txn.of(
                        List.of(
                            Txn.isOf(local.key, local.createRevision),
                            Txn.hasValue(kindKey, known.kind().toString())),
                        List.of(
                            Txn.put(local.key, reader.text(), etcdLease),
                            Txn.put(kindKey, known.kind().toString(), kindLease)),
                        List.of(Txn.getKeyOnly(local.key), Txn.get(kindKey)))))
        .thenCompose(
            reply -> {
              sawRevision(reply.revision());
              if (reply.succeeded()) {
                local.mode = Mode.SHARED;
                local.granted = true;
                return CompletableFuture.completedFuture(true);
              }
              return retryDowngrade(local, etcdLease, reply, known, tries);
            });
  }

  private CompletableFuture<Boolean> retryDowngrade(
      LocalClaim local, long etcdLease, TxnReply reply, Kinds.Known known, int tries) {
    if (reply.found(0).isEmpty()) {
      return CompletableFuture.completedFuture(false);
    }
    if (tries == 1) {
      return CompletableFuture.failedFuture(
          new StoreException("lock '" + local.lock() + "': its kind keeps changing; try again"));
    }
    if (reply.found(1).isEmpty()) {
      return kinds
          .lease()
          .current()
          .thenCompose(
              lease ->
                  gateway.txn(
                      Txn.of(
                          List.of(Txn.isAbsent(keys.kind(local.lock()))),
                          List.of(Txn.put(keys.kind(local.lock()), known.kind().toString(), lease)),
                          List.of())))
          .thenCompose(put -> downgrade(local, etcdLease, tries - 1));
    }
    kinds.learn(local.lock(), StoredKind.parse(reply.found(1).get(0)), 0);
    return downgrade(local, etcdLease, tries - 1);
  }

  /** Renews claims that the engine names, and says how they stand. */
  CompletableFuture<Map<ClaimId, Standing>> renew(Collection<Claim> asked) {
    Map<ClaimId, Standing> answer = new HashMap<>();
    Map<LocalClaim, CompletableFuture<Long>> fresh = new LinkedHashMap<>();
    for (Claim claim : asked) {
      LocalClaim local = claims.renewed(claim);
      if (local == null || !local.isKnown()) {
        if (local == null) {
          answer.put(claim.id(), Standing.GONE);
        }
        continue;
      }
      fresh.put(local, local.lease.fresh(claim.leaseMillis()));
    }
    if (fresh.isEmpty()) {
      return CompletableFuture.completedFuture(answer);
    }
    CompletableFuture<?> all =
        CompletableFuture.allOf(fresh.values().toArray(CompletableFuture[]::new))
            .exceptionally(error -> null);
    return all.thenCompose(
            nothing -> {
              fresh.values().removeIf(CompletableFuture::isCompletedExceptionally);
              return fresh.isEmpty()
                  ? CompletableFuture.failedFuture(unkept())
                  : look.at(fresh.keySet());
            })
        .thenCompose(seen -> tell(seen, answer));
  }

  private StoreException unkept() {
    return new StoreUnavailableException(
        "store '" + gateway.target() + "' did not confirm the lease of the claims");
  }

  private CompletableFuture<Map<ClaimId, Standing>> tell(
      Map<LocalClaim, Seen> seen, Map<ClaimId, Standing> answer) {
    Map<LocalClaim, CompletableFuture<Standing>> told = new LinkedHashMap<>();
    seen.forEach(
        (local, one) -> {
          if (one instanceof Seen.Held && !local.held) {
            bells.foundHeld(local);
          }
          told.put(local, told(local, one));
        });
    CompletableFuture<?> all =
        CompletableFuture.allOf(told.values().toArray(CompletableFuture[]::new))
            .exceptionally(error -> null);
    return all.thenApply(
        nothing -> {
          told.forEach(
              (local, standing) -> {
                if (!standing.isCompletedExceptionally()) {
                  answer.put(local.claim.id(), standing.join());
                }
              });
          return answer;
        });
  }

  /** Turns what was seen of a claim into its standing. One trip more where it has to be moved. */
  CompletableFuture<Standing> told(LocalClaim local, Seen seen) {
    if (!claims.isAlive(local)) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    if (seen instanceof Seen.Waits waits) {
      return kept(local, waits.etcdLease())
          .thenApply(
              still -> {
                if (!still) {
                  return gone(local);
                }
                await(local, waits);
                return WAITING;
              });
    }
    bells.forget(local);
    if (seen instanceof Seen.Held held) {
      return kept(local, held.etcdLease())
          .thenCompose(
              still -> still ? held(local) : CompletableFuture.completedFuture(gone(local)));
    }
    return CompletableFuture.completedFuture(gone(local));
  }

  private Standing gone(LocalClaim local) {
    bells.forget(local);
    claims.vanished(local);
    return Standing.GONE;
  }

  /** A withdrawal that came meanwhile has found nothing to forget. */
  private void await(LocalClaim local, Seen.Waits waits) {
    sawRevision(waits.revision());
    bells.await(local, waits);
    if (!claims.isAlive(local)) {
      bells.forget(local);
    }
  }

  /**
   * Moves a claim to the shared lease that this client keeps alive now, if it is on an earlier one.
   *
   * @return whether it is still there
   */
  private CompletableFuture<Boolean> kept(LocalClaim local, long etcdLease) {
    local.etcdLease = etcdLease;
    return local.ownLeaseUntil != 0 || etcdLease == local.lease.id()
        ? CompletableFuture.completedFuture(true)
        : local
            .lease
            .fresh(local.claim.leaseMillis())
            .thenCompose(current -> put(local, current, 0));
  }

  private CompletableFuture<Standing> held(LocalClaim local) {
    Standing.Held tokens = hold(local);
    local.beginShortestHold();
    Claim claim = local.claim;
    kinds.remember(claim.lock(), local.mode);
    long now = System.nanoTime();
    boolean outlasts = local.minHoldOverAt() - (local.heardAt + claim.lease().toNanos()) > 0;
    if (!claim.minHold().isZero() && outlasts) {
      return local.ownLeaseUntil != 0
          ? CompletableFuture.completedFuture(tokens)
          : move(local, tokens, now);
    }
    return local.ownLeaseUntil != 0
        ? moveBack(local, tokens)
        : CompletableFuture.completedFuture(tokens);
  }

  private static Standing.Held hold(LocalClaim local) {
    local.held = true;
    return local.stored().held(local.lock(), local.createRevision);
  }

  /** Puts it on a lease that keeps it for its shortest hold, whatever becomes of this client. */
  private CompletableFuture<Standing> move(LocalClaim local, Standing.Held tokens, long now) {
    long seconds = (local.minHoldOverAt() - now) / 1_000_000_000 + 2;
    return SharedLease.grant(gateway, seconds)
        .thenCompose(kept -> put(local, kept.id(), local.minHoldOverAt()))
        .thenApply(still -> still ? tokens : Standing.GONE);
  }

  /** Its shortest hold will be over before a lease is: the shared one keeps it again. */
  private CompletableFuture<Standing> moveBack(LocalClaim local, Standing.Held tokens) {
    return local
        .lease
        .fresh(local.claim.leaseMillis())
        .thenCompose(lease -> put(local, lease, 0))
        .thenApply(still -> still ? tokens : Standing.GONE);
  }

  private CompletableFuture<Boolean> put(LocalClaim local, long lease, long ownUntil) {
    return gateway
        .txn(
            Txn.of(
                List.of(Txn.isOf(local.key, local.createRevision)),
                List.of(Txn.put(local.key, local.stored().text(), lease)),
                List.of()))
        .thenApply(
            reply -> {
              sawRevision(reply.revision());
              if (reply.succeeded()) {
                local.etcdLease = lease;
                local.ownLeaseUntil = ownUntil;
              }
              return reply.succeeded() && claims.isAlive(local);
            });
  }

  private void ring(LocalClaim local) {
    if (claims.isAlive(local)) {
      Standing.Held tokens = hold(local);
      local.bell.ring(tokens);
    }
  }

  /** A failure is no matter: whoever waits asks again on its own. */
  private void lookAgain(List<LocalClaim> locals) {
    look.at(locals.stream().filter(claims::isAlive).toList())
        .thenAccept(
            seen ->
                seen.forEach(
                    (local, one) -> {
                      if (one instanceof Seen.Waits waits) {
                        await(local, waits);
                      } else {
                        bells.forget(local);
                        if (one instanceof Seen.Held) {
                          ring(local);
                        }
                      }
                    }));
  }
}
