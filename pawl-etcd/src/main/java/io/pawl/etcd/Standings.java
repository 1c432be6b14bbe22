package io.pawl.etcd;

import io.pawl.concurrent.Futures;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.LocalClaim.Version;
import io.pawl.etcd.Look.Seen;
import io.pawl.etcd.gateway.Gateway;
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
 * are told, a lease that keeps it. Thread-safe.
 */
final class Standings {

  private static final Standing.Waiting WAITING = new Standing.Waiting(Duration.ofSeconds(2));

  private final Gateway gateway;
  private final Kinds kinds;
  private final Look look;
  private final Claims claims;
  private final Rewrites rewrites;
  private final Bells bells;
  private final Looks looks = new Looks();

  /** The largest that was seen: every later claim has a larger one, unless it went back. */
  private final AtomicLong revision = new AtomicLong();

  Standings(Gateway gateway, Keys keys, Kinds kinds, Look look, Claims claims) {
    this.gateway = gateway;
    this.kinds = kinds;
    this.look = look;
    this.claims = claims;
    this.rewrites = new Rewrites(gateway, keys, kinds, this::sawRevision);
    this.bells =
        new Bells(
            gateway,
            keys,
            new Bells.Callbacks() {
              @Override
              public void granted(LocalClaim local, List<ClaimId> followers) {
                ring(local, followers);
              }

              @Override
              public void lookAgain(List<LocalClaim> locals) {
                Standings.this.lookAgain(locals);
              }
            });
  }

  Rewrites rewrites() {
    return rewrites;
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

  /** The cluster was restored: claims have larger ones than this from now on. */
  void wentBackTo(long seen) {
    revision.set(seen);
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
                  claim.mode() instanceof Mode.Shared && local.mode() instanceof Mode.Exclusive;
              return one instanceof Seen.Held && reads
                  ? rewrites
                      .downgrade(local)
                      .thenCompose(still -> told(local, asSeen(local, still)))
                  : told(local, one);
            });
  }

  private static Seen asSeen(LocalClaim local, boolean isThere) {
    Version known = local.version();
    return isThere ? new Seen.Held(known.lease(), known.modRevision()) : new Seen.Absent();
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
          told.put(local, toldOrFailed(local, one));
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

  private CompletableFuture<Standing> toldOrFailed(LocalClaim local, Seen seen) {
    try {
      return told(local, seen);
    } catch (StoreException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Turns what was seen of a claim into its standing. One trip more where it has to be moved. */
  CompletableFuture<Standing> told(LocalClaim local, Seen seen) {
    if (!claims.isAlive(local)) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    if (seen instanceof Seen.Waits waits) {
      return rewrites
          .keep(local, waits.etcdLease(), waits.modRevision())
          .thenApply(
              still -> {
                if (!still || !claims.isAlive(local)) {
                  return gone(local);
                }
                await(local, waits);
                return WAITING;
              });
    }
    bells.forget(local);
    if (seen instanceof Seen.Held held) {
      Standing.Held tokens = hold(local);
      local.beginShortestHold();
      kinds.remember(local);
      return rewrites
          .keep(local, held.etcdLease(), held.modRevision())
          .thenApply(still -> still && claims.isAlive(local) ? tokens : gone(local));
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

  private Standing.Held hold(LocalClaim local) {
    local.held = true;
    return local.stored(local.version()).held(local.lock(), local.createRevision);
  }

  private void ring(LocalClaim local, List<ClaimId> followers) {
    if (claims.isAlive(local)) {
      Standing.Held tokens = hold(local);
      local.bell.ring(new Standing.Held(tokens.token(), tokens.lastToken(), followers));
    }
  }

  /** A failure is no matter: whoever waits asks again on its own. */
  private void lookAgain(List<LocalClaim> locals) {
    List<LocalClaim> now = looks.begin(locals.stream().filter(claims::isAlive).toList());
    if (!now.isEmpty()) {
      Futures.caught(() -> lookAt(now)).whenComplete((nothing, error) -> lookAgain(looks.end(now)));
    }
  }

  private CompletableFuture<Void> lookAt(List<LocalClaim> locals) {
    return look.at(locals)
        .thenAccept(
            seen ->
                seen.forEach(
                    (local, one) -> {
                      if (one instanceof Seen.Waits waits) {
                        await(local, waits);
                      } else {
                        bells.forget(local);
                        if (one instanceof Seen.Held) {
                          ring(local, List.of());
                        }
                      }
                    }));
  }
}
