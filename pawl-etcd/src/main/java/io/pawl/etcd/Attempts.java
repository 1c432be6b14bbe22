package io.pawl.etcd;

import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.etcd.Kinds.Known;
import io.pawl.etcd.LocalClaim.Version;
import io.pawl.etcd.Look.Seen;
import io.pawl.etcd.Passes.Pass;
import io.pawl.etcd.gateway.Failures;
import io.pawl.etcd.gateway.Gateway;
import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.RefusedException;
import io.pawl.etcd.gateway.RefusedException.Reason;
import io.pawl.etcd.gateway.Txn;
import io.pawl.etcd.gateway.TxnReply;
import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.spi.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Makes claims. One transaction compares that the claim is new, was not withdrawn, has its pass and
 * is for the lock's kind, puts its key, and reads who stands before it. A claim that does not queue
 * is put only where it is held at once. What is believed of the kind, or of a semaphore's holders,
 * is compared: where it was wrong the answer brings what is right, and the next transaction relies
 * on that.
 *
 * <p>Called in the turn of the lock. Thread-safe.
 */
final class Attempts {

  /** How often what was believed may turn out wrong before a claim queues, or fails. */
  private static final int MOST_TRIES = 6;

  /** How often others may come first before a claim that does not queue is told that it is busy. */
  private static final int MOST_ROUNDS = 50;

  /** So many passes of one claim may be in doubt: its withdrawal deletes them all at once. */
  private static final int MOST_PASSES = 64;

  private static final int LONG_QUEUE = 16;

  /** What is left for claims of other locks when a token floor is as large as may be. */
  private static final long ROOM = 1L << 32;

  private final Gateway gateway;
  private final Keys keys;
  private final Kinds kinds;
  private final Look look;
  private final Claims claims;
  private final Standings standings;

  Attempts(Gateway gateway, Keys keys, Kinds kinds, Look look, Claims claims, Standings standings) {
    this.gateway = gateway;
    this.keys = keys;
    this.kinds = kinds;
    this.look = look;
    this.claims = claims;
    this.standings = standings;
  }

  CompletableFuture<Standing> of(LocalClaim local) {
    if (!claims.isAlive(local)) {
      return CompletableFuture.completedFuture(Standing.GONE);
    }
    if (local.isKnown()) {
      return standings.again(local);
    }
    if (local.passes.size() >= MOST_PASSES) {
      return CompletableFuture.failedFuture(
          StoreUnavailableException.unsent(
              "store '"
                  + gateway.target()
                  + "' has not answered "
                  + MOST_PASSES
                  + " attempts of one claim",
              null));
    }
    return make(local, null, 1)
        .whenComplete(
            (standing, error) -> {
              if (error != null) {
                local.doubtful = true;
              }
            });
  }

  /** All claims of a lock that were seen at a revision, behind which a claim fits. */
  private record Guard(long revision, @Nullable KeyValue reader) {}

  private CompletableFuture<Standing> make(LocalClaim local, @Nullable Guard guard, int tries) {
    Claim claim = local.claim;
    Known known = kinds.of(claim.lock(), claim.mode());
    StoredKind wanted = withFloor(claim, known.kind());
    CompletableFuture<Long> kindLease =
        wanted.base() == 0 ? kinds.lease().current() : CompletableFuture.completedFuture(0L);
    return local
        .lease
        .pass(claim.leaseMillis())
        .thenCombine(
            kindLease,
            (pass, forKind) ->
                new Try(
                    known, wanted, pass, forKind, guard, takes(claim, known, tries), looks(claim)))
        .thenCompose(one -> send(local, one))
        .handle(
            (answer, error) ->
                answer == null
                    ? again(local, Failures.cause(error), tries)
                    : answered(local, answer.one, answer.reply, tries))
        .thenCompose(standing -> standing);
  }

  /**
   * One transaction that makes a claim, and what it relies on.
   *
   * @param takes whether it is put only where it is held at once
   * @param looks whether it reads who stands before it
   */
  private record Try(
      Known known,
      StoredKind wanted,
      Pass pass,
      long kindLease,
      @Nullable Guard guard,
      boolean takes,
      boolean looks) {

    /** Whether the claim queues if it is not held at once: a failure says nothing but that. */
    boolean guesses(Claim claim) {
      return takes && claim.queues();
    }
  }

  private record Answer(Try one, TxnReply reply) {}

  /**
   * A claim that queues is made without a look at the queue where this client found nobody there
   * the last time: the look would take etcd as long as all the rest. It queues if it meets
   * somebody.
   */
  private static boolean takes(Claim claim, Known known, int tries) {
    boolean guesses =
        tries == 1 && known.seen() && known.free() && !(claim.mode() instanceof Mode.Permits);
    return !claim.queues() || guesses;
  }

  /** Whoever joins a long queue that this client knows is told by it, and spares etcd sorting. */
  private boolean looks(Claim claim) {
    return claim.queues()
        && !(claim.mode() instanceof Mode.Exclusive
            && standings.bells().lengthOf(claim.lock()) >= LONG_QUEUE);
  }

  private CompletableFuture<Answer> send(LocalClaim local, Try one) {
    local.base = one.wanted.base();
    boolean isFirst = local.passes.add(one.pass.key());
    return gateway
        .txn(txn(local, one))
        .whenComplete(
            (reply, error) -> {
              if (isFirst && (reply != null || hadNoEffect(Failures.cause(error)))) {
                local.passes.remove(one.pass.key());
              }
            })
        .thenApply(reply -> new Answer(one, reply));
  }

  private static boolean hadNoEffect(Throwable error) {
    return (error instanceof RefusedException refused && refused.changedNothing())
        || error instanceof StoreDeniedException
        || (error instanceof StoreUnavailableException silent && silent.isUnsent());
  }

  /** A lease that is gone refuses the whole transaction: nothing was changed. */
  private CompletableFuture<Standing> again(LocalClaim local, Throwable error, int tries) {
    if (RefusedException.is(error, Reason.LEASE_GONE) && tries < MOST_TRIES) {
      kinds.lease().isGone(kinds.lease().id());
      return local.lease.check().thenCompose(lease -> make(local, null, tries + 1));
    }
    return CompletableFuture.failedFuture(error);
  }

  /** Raises the base of the lock's tokens where etcd's revisions do not reach the claim's floor. */
  private StoredKind withFloor(Claim claim, StoredKind known) {
    long floor = claim.tokenFloor();
    if (floor < StoredClaim.firstToken(known.base(), standings.revision())) {
      return known;
    }
    if (floor > Tokens.MAX - StoredClaim.firstToken(0, standings.revision() + ROOM)) {
      throw new StoreException(
          "lock '"
              + claim.lock()
              + "': no fencing token is left above "
              + floor
              + "; use another name");
    }
    return new StoredKind(known.kind(), floor);
  }

  private Txn txn(LocalClaim local, Try one) {
    Claim claim = local.claim;
    String kindKey = keys.kind(claim.lock());
    Known known = one.known;
    Txn.Op put = Txn.put(local.key, local.stored(local.version()).text(), one.pass.lease());
    Txn.Op putKind = Txn.put(kindKey, one.wanted.toString(), one.kindLease);
    boolean stamps = !one.wanted.equals(known.kind()) || known.lease() != one.kindLease;

    List<Txn.Compare> isNew = new ArrayList<>();
    isNew.add(Txn.isAbsent(local.key));
    isNew.add(Txn.isAbsent(keys.withdrawn(claim.lock(), claim.id())));
    isNew.add(Txn.exists(one.pass.key()));
    if (one.takes) {
      isNew.addAll(isFree(claim, one.guard));
    }
    List<Txn.Op> reads =
        one.looks && !one.takes ? look.reads(claim.lock(), local.mode(), local.key, 0) : List.of();

    List<Txn.Op> knows = new ArrayList<>();
    knows.add(put);
    knows.addAll(reads);
    if (stamps) {
      knows.add(putKind);
    }
    List<Txn.Op> asks = new ArrayList<>();
    asks.add(Txn.get(kindKey));
    asks.add(Txn.get(local.key));
    asks.add(Txn.getKeyOnly(keys.withdrawn(claim.lock(), claim.id())));
    asks.add(Txn.getKeyOnly(one.pass.key()));
    if (!claim.queues() && !(claim.mode() instanceof Mode.Exclusive)) {
      asks.add(
          claim.mode() instanceof Mode.Shared
              ? Txn.latest(keys.writers(claim.lock()), 1, false, 0)
              : Txn.oldest(keys.claims(claim.lock()), 0, false));
    }
    List<Txn.Compare> ofKnownKind = new ArrayList<>(isNew);
    ofKnownKind.add(Txn.hasValue(kindKey, known.kind().toString()));
    if (known.seen()) {
      return Txn.of(ofKnownKind, knows, one.guesses(claim) ? List.of() : asks);
    }
    List<Txn.Compare> ofNoKind = new ArrayList<>(isNew);
    ofNoKind.add(Txn.isAbsent(kindKey));
    List<Txn.Op> settles = new ArrayList<>();
    settles.add(put);
    settles.addAll(reads);
    settles.add(putKind);
    return Txn.of(ofKnownKind, knows, List.of(Txn.nested(Txn.of(ofNoKind, settles, asks))));
  }

  private List<Txn.Compare> isFree(Claim claim, @Nullable Guard guard) {
    String all =
        claim.mode() instanceof Mode.Shared
            ? keys.writers(claim.lock())
            : keys.claims(claim.lock());
    if (guard == null) {
      return List.of(Txn.isEmpty(all));
    }
    KeyValue reader = guard.reader;
    Txn.Compare nothingNew = Txn.allBefore(all, guard.revision + 1);
    return reader == null
        ? List.of(nothingNew)
        : List.of(nothingNew, Txn.isUnchanged(reader.key(), reader.modRevision()));
  }

  private CompletableFuture<Standing> answered(
      LocalClaim local, Try one, TxnReply reply, int tries) {
    standings.sawRevision(reply.revision());
    boolean isNested = !reply.succeeded() && !one.known.seen();
    TxnReply done = isNested ? reply.nested(0) : reply;
    if (done.succeeded()) {
      kinds.learn(local.lock(), one.wanted, one.kindLease);
      local.kindLease = one.kindLease;
      return made(local, one, done);
    }
    if (one.guesses(local.claim)) {
      kinds.isBusy(local.lock());
      return make(local, null, tries + 1);
    }
    Optional<StoredKind> kind = done.found(0).stream().findFirst().map(StoredKind::parse);
    if (!done.found(1).isEmpty()) {
      return found(local, done.found(1).get(0));
    }
    if (!done.found(2).isEmpty()) {
      return ended(local);
    }
    if (kind.isPresent() && !kind.get().kind().takes(local.mode())) {
      return ended(local, new Standing.OtherKind(kind.get().kind()));
    }
    boolean hasPass = !done.found(3).isEmpty();
    if (!hasPass) {
      local.lease.isVoid(one.pass.key());
    }
    boolean isOfKind =
        kind.map(stored -> stored.equals(one.known.kind())).orElse(!one.known.seen());
    if (!isOfKind) {
      kind.ifPresentOrElse(
          stored -> kinds.learn(local.lock(), stored, 0),
          () -> kinds.miss(local.lock(), one.known.kind()));
    }
    if (!hasPass || !isOfKind) {
      return tries < MOST_TRIES
          ? make(local, one.guard, tries + 1)
          : CompletableFuture.failedFuture(restless(local));
    }
    if (local.claim.queues()) {
      return CompletableFuture.failedFuture(restless(local));
    }
    return busy(local, kind, done, tries);
  }

  private StoreException restless(LocalClaim local) {
    return new StoreException(
        "lock '"
            + local.lock()
            + "': its kind, or the pass of this client, changed "
            + MOST_TRIES
            + " times while it was taken; try again");
  }

  private CompletableFuture<Standing> made(LocalClaim local, Try one, TxnReply done) {
    long lease = one.pass.lease();
    local.createRevision = done.revision();
    local.learn(new Version(done.revision(), lease, local.mode(), false, false));
    if (isBelowItsFloor(local)) {
      return CompletableFuture.failedFuture(wentBack(local));
    }
    Seen seen =
        one.takes
            ? new Seen.Held(lease, done.revision())
            : one.looks
                ? look.of(local, local.mode(), local.createRevision, done, 1)
                : new Seen.Waits(null, false, done.revision(), lease, done.revision());
    if (seen instanceof Seen.Held) {
      kinds.isFree(local.lock());
    }
    return standings.told(local, seen);
  }

  private static long firstToken(LocalClaim local) {
    return local.stored(local.version()).held(local.lock(), local.createRevision).token();
  }

  private static boolean isBelowItsFloor(LocalClaim local) {
    return firstToken(local) <= local.claim.tokenFloor();
  }

  private StoreException wentBack(LocalClaim local) {
    standings.wentBackTo(local.createRevision);
    return new StoreException(
        "lock '"
            + local.lock()
            + "': etcd's revision went back, so the next token, "
            + firstToken(local)
            + ", is not above "
            + local.claim.tokenFloor()
            + "; was the cluster restored from a backup? Try again");
  }

  /** A repetition: the first copy has come through. */
  private CompletableFuture<Standing> found(LocalClaim local, KeyValue own) {
    StoredClaim stored = StoredClaim.parse(own);
    if (stored.ended()) {
      return ended(local);
    }
    local.createRevision = own.createRevision();
    local.base = stored.base();
    local.learn(Version.of(own));
    return isBelowItsFloor(local)
        ? CompletableFuture.failedFuture(wentBack(local))
        : standings.again(local);
  }

  /** A claim that does not queue: it may fit all the same. */
  private CompletableFuture<Standing> busy(
      LocalClaim local, Optional<StoredKind> kind, TxnReply done, int tries) {
    Claim claim = local.claim;
    if (claim.mode() instanceof Mode.Exclusive || tries >= MOST_ROUNDS) {
      return ended(local);
    }
    List<KeyValue> found = done.found(4);
    Guard next;
    if (claim.mode() instanceof Mode.Shared) {
      boolean reads =
          !found.isEmpty() && StoredClaim.parse(found.get(0)).mode() instanceof Mode.Shared;
      if (!reads && !found.isEmpty()) {
        return ended(local);
      }
      next = found.isEmpty() ? null : new Guard(found.get(0).createRevision(), found.get(0));
    } else {
      if (!Look.fitsBehind(found, claim.mode(), kind)) {
        return ended(local);
      }
      next = new Guard(done.revision(), null);
    }
    return make(local, next, tries + 1);
  }

  private CompletableFuture<Standing> ended(LocalClaim local) {
    return ended(local, Standing.GONE);
  }

  /** There is no such claim. One that was in doubt stays on the list until it is withdrawn. */
  private CompletableFuture<Standing> ended(LocalClaim local, Standing standing) {
    if (!local.doubtful) {
      claims.gone(local);
    }
    return CompletableFuture.completedFuture(standing);
  }
}
