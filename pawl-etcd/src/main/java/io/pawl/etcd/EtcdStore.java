package io.pawl.etcd;

import io.pawl.concurrent.Uninterruptibly;
import io.pawl.error.StoreException;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.Txn;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Diagnosable;
import io.pawl.spi.Inspectable;
import io.pawl.spi.Kind;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import io.pawl.spi.StoreUrl;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Locks on etcd, 3.4 or newer, over its JSON gateway. A claim is a key on a lease of etcd's; the
 * order of creation is the queue. One transaction takes a free lock, one gives it back. Whoever
 * waits watches the claim nearest before it, and asks every 2 s all the same.
 *
 * <p>docs/ETCD.md has the layout and what becomes of faults; the package's Javadoc has the
 * arguments for exclusion. Every stage completes within three times the timeout of a request,
 * however many it needs and whatever is before it; only {@link #list} takes as long as there are
 * locks. Thread-safe. Stages complete, and bells ring, on threads of the store's own.
 */
public final class EtcdStore implements LockStore, Inspectable, Diagnosable {

  /** How many claims one renewal carries: as many as one transaction may read. */
  private static final int RENEW_BATCH = 100;

  /** How many timeouts of a request a verb lasts at most. */
  private static final int MOST_TIMEOUTS = 3;

  private static final long CLOSE_MILLIS = 2_000;

  /** How often the kinds of held locks are looked after whose claims are seldom renewed: 1 min. */
  private static final long KINDS_NANOS = 60_000_000_000L;

  private final Gateway gateway;
  private final Deadlines deadlines;
  private final Turns turns;
  private final Leases leases;
  private final Kinds kinds;
  private final Claims claims;
  private final Standings standings;
  private final Attempts attempts;
  private final Withdrawals withdrawals;
  private final Inspection inspection;
  private final Upkeep upkeep;

  /** When the kinds of held locks were looked after, on the thread of upkeep. */
  private long kindsAt = System.nanoTime();

  private EtcdStore(EtcdUrl url, Gateway gateway, long kindSeconds) {
    this.gateway = gateway;
    Keys keys = new Keys(url.namespace());
    this.deadlines =
        new Deadlines(url.toString(), MOST_TIMEOUTS * url.target().timeout().toNanos());
    this.turns = new Turns(deadlines);
    this.kinds = new Kinds(gateway, keys, kindSeconds);
    Look look = new Look(gateway, keys);
    this.leases = new Leases(gateway, keys);
    this.claims = new Claims(leases, keys, url.toString());
    this.standings = new Standings(gateway, keys, kinds, look, claims);
    this.attempts = new Attempts(gateway, keys, kinds, look, claims, standings);
    this.withdrawals = new Withdrawals(gateway, keys, claims, standings);
    this.inspection = new Inspection(gateway, keys, kinds);
    standings.sawRevision(firstRevision(gateway, keys));
    this.upkeep = new Upkeep(this::round); // with a thread: nothing fails after it
  }

  /**
   * Connects to {@code url}, whose form {@link EtcdProvider} explains. Close the store at the end.
   * One round trip, one more with a password.
   *
   * @throws IllegalArgumentException for an invalid URL, naming the part
   * @throws StoreException when the cluster cannot be reached or used, saying what to change
   */
  public static EtcdStore connect(String url) {
    return connect(EtcdUrl.parse(StoreUrl.parse(url)));
  }

  static EtcdStore connect(EtcdUrl url) {
    return connect(url, Kinds.SECONDS);
  }

  /**
   * @param kindSeconds how long a lock's kind is stored at most after its last use
   */
  static EtcdStore connect(EtcdUrl url, long kindSeconds) {
    Gateway gateway = new Gateway(url.target());
    try {
      return new EtcdStore(url, gateway, kindSeconds);
    } catch (RuntimeException | Error e) {
      gateway.close();
      throw e;
    }
  }

  private static long firstRevision(Gateway gateway, Keys keys) {
    try {
      Txn newest = Txn.of(Txn.page(keys.kinds(), keys.kinds(), 1, true));
      return Uninterruptibly.join(gateway.txn(newest)).revision();
    } catch (RuntimeException e) {
      throw SharedLease.asUnchecked(e);
    }
  }

  /** One round of upkeep; returns when the next has to come. */
  private long round(long now) {
    Claims.Work work = claims.work(now);
    leases.keepAlive(work.used(), now);
    for (LocalClaim local : work.remove()) {
      standings.bells().forget(local);
      local.removing = true;
      // a failure leaves it on the list
      try {
        turns
            .withdrawal(local.claim, () -> withdrawals.of(local))
            .whenComplete((nothing, error) -> local.removing = false);
      } catch (RuntimeException | Error e) {
        local.removing = false;
        throw e;
      }
    }
    if (now - kindsAt >= KINDS_NANOS) {
      kindsAt = now;
      claims.held().forEach(kinds::remember);
    }
    boolean nothingWatched = standings.bells().tick(now);
    long period = leases.periodNanos();
    return work.isIdle() && nothingWatched && period == 0 ? 0 : Math.max(1, period / 2);
  }

  /**
   * One round trip. Two more for the first claim of its length and of 30 idle seconds, one for the
   * first of 5 minutes, one where the leader has changed since; for a claim with a shortest hold
   * two more.
   */
  @Override
  public CompletionStage<Standing> attempt(Claim claim, Bell bell) {
    LocalClaim local = claims.attempted(claim, bell);
    upkeep.wake();
    if (local == null) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    return plain(
        turns
            .attempt(claim, () -> attempts.of(local))
            .whenComplete((standing, error) -> claims.answered(local)));
  }

  /** Claims of one length have one lease; one with a shortest hold may need another trip. */
  @Override
  public int renewGroup(Claim claim) {
    return 2 * Long.hashCode(claim.leaseMillis()) + (claim.minHold().isZero() ? 0 : 1);
  }

  /** One round trip for a hundred claims that are held, or fifty that wait. */
  @Override
  public CompletionStage<Map<ClaimId, Standing>> renew(Collection<Claim> asked) {
    return plain(deadlines.limited(standings.renew(asked)));
  }

  /** One round trip. */
  @Override
  public CompletionStage<Void> withdraw(Claim claim) {
    LocalClaim local = claims.withdrawn(claim);
    upkeep.wake();
    standings.bells().forget(local);
    return plain(turns.withdrawal(claim, () -> withdrawals.of(local)));
  }

  /** Carries the first transaction on the calling thread if a connection is free. */
  @Override
  public void awaited(Runnable call) {
    gateway.awaited(call);
  }

  /** With the failure itself, not with one that wraps it. */
  private static <T> CompletableFuture<T> plain(CompletableFuture<T> answer) {
    return answer.exceptionallyCompose(
        error -> CompletableFuture.failedFuture(Failures.cause(error)));
  }

  /** The number of claims of a lock as the watch tells it; 0 where it is not watched. */
  int lengthOf(String lock) {
    return standings.bells().lengthOf(lock);
  }

  @Override
  public int renewBatch() {
    return RENEW_BATCH;
  }

  @Override
  public Duration answerTime() {
    return Duration.ofMillis(500);
  }

  /** Walks all claims, 500 at a time, and then each lock that was found. */
  @Override
  public CompletionStage<List<LockView>> list(int limit) {
    return plain(inspection.list(limit));
  }

  /**
   * One round trip, and one for each client that holds or waits, as many as a request's timeout
   * allows: later ones seem to run out at once.
   */
  @Override
  public CompletionStage<Optional<LockView>> show(String lock) {
    return plain(deadlines.limited(inspection.show(lock)));
  }

  /** Two round trips. */
  @Override
  public CompletionStage<Boolean> evict(String lock, long token) {
    return plain(deadlines.limited(inspection.evict(lock, token)));
  }

  /**
   * Two round trips, and again while claims come and go. Fails where permits are taken away while
   * more than 116 claims hold them or wait.
   */
  @Override
  public CompletionStage<Boolean> setKind(String lock, Kind kind) {
    return plain(deadlines.limited(inspection.setKind(lock, kind)));
  }

  @Override
  public List<Finding> diagnose() {
    return new Doctor(gateway).diagnose();
  }

  @Override
  public String describe() {
    return gateway.target().toString();
  }

  /** Ends at once the leases that no claim of this store needs any more; others run out. */
  @Override
  public void close() {
    try {
      upkeep.close();
      standings.bells().close();
      if (!gateway.isClosed()) {
        Set<SharedLease> used = claims.inUse();
        Uninterruptibly.await(leases.close(used), TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS));
      }
    } finally {
      gateway.close();
      deadlines.close();
    }
  }

  @Override
  public String toString() {
    return describe();
  }
}
