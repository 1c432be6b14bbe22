package io.pawl.zookeeper;

import io.pawl.spi.Claim;
import io.pawl.spi.Mode;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Nodes.Queue;
import io.pawl.zookeeper.Requests.Created;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The node of a claim under the session that the claim has. A node is the claim's own only if it
 * was made in this session: one of an older session is nobody's, though it bears the claim's id.
 *
 * <p>Methods that say so want the claim's mutex; those that make requests must not have it.
 */
final class OwnNode {

  private final Claim claim;
  private final Session session;
  private final String lockPath;
  private final List<ACL> acl;

  private @Nullable String path;
  private long zxid;
  private long placedMillis;
  private long placedNanos;
  private long askedNanos = System.nanoTime();

  OwnNode(Claim claim, Session session, String lockPath, List<ACL> acl) {
    this.claim = claim;
    this.session = session;
    this.lockPath = lockPath;
    this.acl = acl;
  }

  /** Whether it outlives its session, for the sake of the claim's shortest hold. */
  boolean isKept() {
    return Nodes.isKept(claim);
  }

  private String signPath() {
    return lockPath + "/" + Nodes.sign(claim.id(), session.id());
  }

  // -------------------------------------------------------------- what is known, under the mutex

  /** Null unless it is known to have been made. */
  @Nullable String path() {
    return path;
  }

  /** It is at {@code created}, or, if that is null, it is not there. */
  void isAt(@Nullable String created) {
    path = created;
  }

  void learn(Stat stat) {
    zxid = stat.getCzxid();
    placedMillis = stat.getMtime();
    placedNanos = System.nanoTime();
  }

  /** Whether {@code other} is its path, or that of the sign beside it. */
  boolean has(String other) {
    return path != null && (other.equals(path) || other.equals(signPath()));
  }

  /** The transaction that made it. */
  long zxid() {
    return zxid;
  }

  /**
   * The service's own time, or somewhat later, as far as this machine's clock runs like the
   * service's: the answer that says when it was may have come long after.
   */
  long latestServiceMillis() {
    return placedMillis + (System.nanoTime() - askedNanos) / 1_000_000;
  }

  /** The service's own time, or somewhat earlier: clock rates differ by a hundredth at most. */
  long earliestServiceMillis() {
    return placedMillis + (sincePlaced() - sincePlaced() / 100 - 1) / 1_000_000;
  }

  private long sincePlaced() {
    return System.nanoTime() - placedNanos;
  }

  /** The service wrote it, at a time of its own, after it was asked to. */
  void isWritten(Stat stat, long asked) {
    placedMillis = stat.getMtime();
    placedNanos = System.nanoTime();
    askedNanos = asked;
  }

  /** What has to be there for the claim to stand; empty if nobody knows. */
  List<Op> checks() {
    String own = path;
    if (own == null) {
      return List.of();
    }
    return isKept()
        ? List.of(Op.check(own, -1), Op.check(signPath(), -1))
        : List.of(Op.check(own, -1));
  }

  /** Where it is in the queue of the lock, wherever it was thought to be; null if it is not. */
  @Nullable String find(@Nullable Queue queue) {
    for (Place place : queue == null ? List.<Place>of() : queue.places()) {
      if (place.isOf(claim.id(), session.id())) {
        return lockPath + "/" + place.name();
      }
    }
    return null;
  }

  /** How many stand before it in the queue; negative if it is not where it was made. */
  int before(@Nullable Queue queue) {
    String own = path;
    return queue == null || own == null ? -1 : queue.before(own.substring(lockPath.length() + 1));
  }

  /** Whether it is the claim's, in this session or an older one. */
  boolean isOfClaim(Place place) {
    return place.isOf(claim.id());
  }

  // -------------------------------------------------------------- requests

  /** Makes it; with a node that does not outlive the session beside one that does. */
  CompletableFuture<Created> make(Mode mode) {
    String sequence = lockPath + "/" + Nodes.place(claim, session.id());
    byte[] data = Stored.of(claim, mode, false).bytes();
    if (!isKept()) {
      return session.ask().create(sequence, data, CreateMode.EPHEMERAL_SEQUENTIAL);
    }
    List<Op> ops =
        List.of(
            Op.create(sequence, data, acl, CreateMode.PERSISTENT_SEQUENTIAL),
            Op.create(signPath(), new byte[0], acl, CreateMode.EPHEMERAL));
    return session
        .ask()
        .multi(ops)
        .thenApply(
            results -> {
              Code code = Requests.firstError(results);
              if (code != null) {
                throw new CompletionException(KeeperException.create(code, lockPath));
              }
              return new Created(((OpResult.CreateResult) results.get(0)).getPath(), null);
            });
  }

  /**
   * What the service says of it at {@code own}; null if it, or the sign beside it, is not there.
   */
  CompletableFuture<@Nullable Stat> look(String own) {
    CompletableFuture<@Nullable Stat> place = session.ask().exists(own);
    return isKept()
        ? session
            .ask()
            .exists(signPath())
            .thenCombine(place, (sign, stat) -> sign == null ? null : stat)
        : place;
  }

  /** Writes what it says already, for the time at which the service does so. */
  CompletableFuture<Stat> write(String own, Mode mode) {
    return session.ask().write(own, Stored.of(claim, mode, false).bytes(), -1);
  }

  /** Notes that the client has heard of the grant, which the shortest hold counts from. */
  CompletableFuture<List<OpResult>> mark(String own, Mode mode) {
    return session
        .ask()
        .multi(
            List.of(
                Op.setData(own, Stored.of(claim, mode, true).bytes(), -1),
                Op.check(signPath(), -1)));
  }

  /** Leaves it to stand for its shortest hold alone; a missing mark is made in the same trip. */
  CompletableFuture<List<OpResult>> leaveBehind(String own, Mode mode, boolean marked) {
    Op unsign = Op.delete(signPath(), -1);
    return session
        .ask()
        .multi(
            marked
                ? List.of(unsign)
                : List.of(Op.setData(own, Stored.of(claim, mode, true).bytes(), -1), unsign));
  }

  /** Completes when it is gone. */
  CompletableFuture<Void> remove(String own) {
    CompletableFuture<Boolean> gone = session.ask().delete(own, -1);
    return isKept()
        ? gone.thenCombine(session.ask().delete(signPath(), -1), (was, sign) -> null)
        : gone.thenApply(was -> null);
  }
}
