package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.Line.Before;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Session.Created;
import io.pawl.zookeeper.Session.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim of this client and its node: joins the queue, waits for what stands before it, holds, and
 * ends. Joining takes one round trip (create, list and read the kind travel together), to be told
 * to wait one more, and to end one.
 *
 * <p>The mutex guards the state and is never held while somebody else's code runs. Requests may be
 * sent under it, since ZooKeeper's client only queues them.
 */
final class QueuedClaim {

  private static final Logger log = LoggerFactory.getLogger(QueuedClaim.class);

  private static final int MOST_TRIES = 5;

  /** After so many claims before ours that have gone, the queue is listed once more. */
  private static final int MOST_GONE = 8;

  /** The service says when a claim has ended; this is for a sign that was lost. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(2);

  /** Numbers of nodes are 31 bits. */
  private static final int LAST_NUMBER = Integer.MAX_VALUE - (1 << 20);

  private enum State {
    /** Its node is being made. */
    JOINING,
    /** Its node may or may not be there, or what stands before it is not known. */
    UNKNOWN,
    WAITING,
    HELD,
    /** It is to go, and is not seen gone yet. */
    ENDING,
    /** Nobody's any more, and in the way until its shortest hold is over. */
    LINGERING,
    ENDED
  }

  private final QueuedClaims all;
  private final Claim claim;
  private final Session session;
  private final String lockPath;
  private final boolean kept;

  /** The same object every time, so that it can be taken back. */
  private final Runnable kindWatcher = this::kindChanged;

  private final Map<Before, Runnable> watchers = new HashMap<>();

  private final ReentrantLock mutex = new ReentrantLock();
  private State state = State.JOINING;
  private Bell bell;
  private Mode mode;
  private @Nullable String path;
  private long zxid;
  private long placedMillis;
  private long placedNanos;
  private @Nullable Line line;
  private Standing.@Nullable Held held;
  private @Nullable StoreException failure;
  private boolean answered;
  private boolean ended;
  private volatile long heardNanos;
  private long endedNanos;
  private boolean heldAtEnd;
  private Duration holdAtEnd = Duration.ZERO;
  private CompletableFuture<Standing> joining = new CompletableFuture<>();
  private @Nullable CompletableFuture<Void> evaluating;
  private @Nullable CompletableFuture<Boolean> marking;
  private volatile long markedNanos;
  private @Nullable CompletableFuture<Void> going;
  private @Nullable Future<?> lingering;

  QueuedClaim(QueuedClaims all, Claim claim, Bell bell, Session session) {
    this.all = all;
    this.claim = claim;
    this.bell = bell;
    this.mode = claim.mode();
    this.session = session;
    this.lockPath = all.nodes().lock(claim.lock());
    this.kept = Nodes.isKept(claim);
    this.heardNanos = System.nanoTime();
  }

  Claim claim() {
    return claim;
  }

  Session session() {
    return session;
  }

  void hear() {
    heardNanos = System.nanoTime();
  }

  /** Whether its client has not spoken of it for its lease. */
  boolean isSilent(long now) {
    return now - heardNanos > claim.lease().toNanos();
  }

  /** Whether its node may stand under its session for somebody's sake. */
  boolean stands() {
    mutex.lock();
    try {
      return !ended && state != State.ENDED && state != State.LINGERING;
    } finally {
      mutex.unlock();
    }
  }

  private String signPath() {
    return lockPath + "/" + Nodes.sign(claim.id());
  }

  // ------------------------------------------------------------------------------------- joining

  /** Takes its place in the queue, and says how it stands there. */
  CompletableFuture<Standing> join() {
    CompletableFuture<Standing> answer = joining;
    session.admit(() -> send(0), this::notJoined);
    return answer;
  }

  /** Another attempt, while the first may be under way. */
  CompletableFuture<Standing> attemptAgain(Bell newBell) {
    hear();
    mutex.lock();
    try {
      bell = newBell;
      if (state == State.JOINING) {
        return joining;
      }
      if (state == State.UNKNOWN) {
        state = State.JOINING;
        joining = new CompletableFuture<>();
      } else {
        return CompletableFuture.completedFuture(Standing.GONE);
      }
    } finally {
      mutex.unlock();
    }
    CompletableFuture<Standing> answer = joining;
    session.admit(this::find, this::notJoined);
    return answer;
  }

  /** Whether an attempt has to begin, or to go on, with its node. */
  boolean hasYetToJoin() {
    mutex.lock();
    try {
      return state == State.JOINING || state == State.UNKNOWN;
    } finally {
      mutex.unlock();
    }
  }

  private void send(int tries) {
    mutex.lock();
    try {
      if (ended) {
        gone();
        return;
      }
      CompletableFuture<?> lockMade = all.makeLock(session, claim.lock(), claim.mode());
      CompletableFuture<Created> made = kept ? makeKept() : make();
      made.whenComplete((created, error) -> placed(created));
      if (kept) {
        made.thenCompose(created -> list(created))
            .whenComplete((standing, error) -> joined(tries, lockMade, error));
      } else {
        list(null).whenComplete((nothing, error) -> afterMade(made, tries, lockMade, error));
      }
    } finally {
      mutex.unlock();
    }
  }

  private void afterMade(
      CompletableFuture<Created> made,
      int tries,
      CompletableFuture<?> lockMade,
      @Nullable Throwable listing) {
    made.whenComplete((created, error) -> joined(tries, lockMade, error == null ? listing : error));
  }

  private CompletableFuture<Created> make() {
    return session.create(
        lockPath + "/" + Nodes.place(claim),
        Stored.of(claim, mode, false).bytes(),
        CreateMode.EPHEMERAL_SEQUENTIAL);
  }

  /** A node that outlives the session, and one that does not, in one transaction. */
  private CompletableFuture<Created> makeKept() {
    List<Op> ops =
        List.of(
            Op.create(
                lockPath + "/" + Nodes.place(claim),
                Stored.of(claim, mode, false).bytes(),
                all.settings().acl(),
                CreateMode.PERSISTENT_SEQUENTIAL),
            Op.create(signPath(), new byte[0], all.settings().acl(), CreateMode.EPHEMERAL));
    return session
        .multi(ops)
        .thenApply(
            results -> {
              Code code = firstError(results);
              if (code != null) {
                throw new CompletionException(KeeperException.create(code, lockPath));
              }
              return new Created(((OpResult.CreateResult) results.get(0)).getPath(), null);
            });
  }

  static @Nullable Code firstError(List<OpResult> results) {
    for (OpResult result : results) {
      if (result instanceof OpResult.ErrorResult error
          && error.getErr() != Code.OK.intValue()
          && error.getErr() != Code.RUNTIMEINCONSISTENCY.intValue()) {
        return Code.get(error.getErr());
      }
    }
    return null;
  }

  private void placed(@Nullable Created created) {
    if (created != null) {
      mutex.lock();
      try {
        path = created.path();
        if (created.stat() != null) {
          learn(created.stat());
        }
      } finally {
        mutex.unlock();
      }
    }
  }

  private void learn(Stat stat) {
    zxid = stat.getCzxid();
    placedMillis = stat.getCtime();
    placedNanos = System.nanoTime();
  }

  private @Nullable List<String> listed;
  private @Nullable Node lockNode;

  /** Lists the queue and reads the kind, behind whatever was asked before. */
  private CompletableFuture<Void> list(@Nullable Created kept) {
    CompletableFuture<Void> own =
        kept == null
            ? CompletableFuture.completedFuture(null)
            : session.exists(kept.path()).thenAccept(this::learnOwn);
    CompletableFuture<@Nullable List<String>> names = session.children(lockPath);
    CompletableFuture<@Nullable Node> kind =
        session.read(lockPath, claim.mode() instanceof Mode.Permits ? kindWatcher : null);
    return CompletableFuture.allOf(own, names, kind)
        .thenRun(
            () -> {
              listed = names.join();
              lockNode = kind.join();
            });
  }

  private void learnOwn(@Nullable Stat stat) {
    if (stat != null) {
      learn(stat);
    }
  }

  private void notJoined(StoreException error) {
    CompletableFuture<Standing> answer;
    mutex.lock();
    try {
      answer = joining;
      state = path == null ? State.ENDED : State.UNKNOWN;
    } finally {
      mutex.unlock();
    }
    if (path == null || session.isEnded()) {
      all.forget(this);
    }
    answer.completeExceptionally(error);
  }

  private void joined(int tries, CompletableFuture<?> lockMade, @Nullable Throwable error) {
    if (error == null) {
      decide();
      return;
    }
    Code code = Failures.code(error);
    if (code == Code.NONODE) {
      all.lockIsMissing(claim.lock());
      Code why = lockMade.isCompletedExceptionally() ? codeOf(lockMade) : null;
      boolean baseMissing = why == Code.NONODE;
      if (tries < MOST_TRIES && (why == null || why == Code.NODEEXISTS || baseMissing)) {
        CompletableFuture<?> made =
            baseMissing ? all.makeBase(session) : CompletableFuture.completedFuture(null);
        made.whenComplete(
            (nothing, failed) -> session.admit(() -> send(tries + 1), this::notJoined));
        return;
      }
      if (why != null && why != Code.NODEEXISTS) {
        failJoining(KeeperException.create(why, lockPath));
        return;
      }
    }
    failJoining(error);
  }

  private static @Nullable Code codeOf(CompletableFuture<?> failed) {
    return failed.handle((value, error) -> Failures.code(error)).join();
  }

  private void failJoining(Throwable error) {
    CompletableFuture<Standing> answer;
    boolean over;
    mutex.lock();
    try {
      answer = joining;
      over = path == null && !Failures.isUnknown(error);
      state = over ? State.ENDED : State.UNKNOWN;
    } finally {
      mutex.unlock();
    }
    if (over || session.isEnded()) {
      all.forget(this);
    }
    answer.completeExceptionally(all.failures().of(error));
  }

  /** Looks for a node of which nobody knows whether it was made. */
  private void find() {
    session
        .barrier()
        .thenCombine(list(null), (agreed, nothing) -> nothing)
        .whenComplete(
            (nothing, error) -> {
              if (error != null) {
                failJoining(error);
              } else {
                found();
              }
            });
  }

  private void found() {
    String name = ownName();
    if (name == null) {
      mutex.lock();
      try {
        path = null;
      } finally {
        mutex.unlock();
      }
      session.admit(() -> send(0), this::notJoined);
      return;
    }
    String own = lockPath + "/" + name;
    session
        .exists(kept ? signPath() : own)
        .thenCombine(session.exists(own), OwnNodes::new)
        .whenComplete(
            (nodes, error) -> {
              if (error != null) {
                failJoining(error);
              } else if (nodes.place() == null
                  || nodes.sign() == null
                  || nodes.sign().getEphemeralOwner() != session.id()) {
                // of a session that has ended: its node goes with it, and is nobody's
                failJoining(KeeperException.create(Code.SESSIONEXPIRED, own));
              } else {
                mutex.lock();
                try {
                  path = own;
                  learn(nodes.place());
                } finally {
                  mutex.unlock();
                }
                decide();
              }
            });
  }

  private record OwnNodes(@Nullable Stat sign, @Nullable Stat place) {}

  private @Nullable String ownName() {
    List<String> names = listed;
    if (names != null) {
      for (String name : names) {
        Place place = Nodes.parse(name);
        if (place != null && place.id().equals(claim.id())) {
          return name;
        }
      }
    }
    return null;
  }

  /** Its node is there, and so is the list of what stands before it. */
  private void decide() {
    CompletableFuture<Standing> answer = joining;
    Kind kind;
    try {
      Node node = lockNode;
      kind =
          node == null
              ? new Kind(claim.mode().capacity())
              : Stored.parseKind(lockPath, node.data());
    } catch (StoreException e) {
      end(Duration.ZERO).whenComplete((nothing, error) -> answer.completeExceptionally(e));
      return;
    }
    all.lockIsThere(claim.lock());
    boolean other = !kind.takes(claim.mode());
    boolean gone;
    mutex.lock();
    try {
      gone = ended;
      if (!other && !gone) {
        gone = !stand(kind);
      }
    } finally {
      mutex.unlock();
    }
    if (gone || other) {
      Standing standing = other ? new Standing.OtherKind(kind) : Standing.GONE;
      end(Duration.ZERO)
          .whenComplete(
              (nothing, error) -> {
                if (error == null) {
                  answer.complete(standing);
                } else {
                  answer.completeExceptionally(all.failures().of(error));
                }
              });
      return;
    }
    evaluate().whenComplete((nothing, error) -> firstAnswer(answer, error));
  }

  /** False if it has no place there. */
  private boolean stand(Kind kind) {
    Place own = null;
    List<Place> places = new ArrayList<>();
    for (String name : listed == null ? List.<String>of() : listed) {
      Place place = Nodes.parse(name);
      if (place != null) {
        places.add(place);
        own = place.id().equals(claim.id()) ? place : own;
      }
    }
    if (own == null) {
      return false; // evicted meanwhile
    }
    if (own.number() > LAST_NUMBER) {
      failure =
          new StoreException(
              "lock '"
                  + claim.lock()
                  + "': the numbers of its nodes are used up; leave it alone until nobody holds it"
                  + " or waits, and delete node "
                  + lockPath);
      return true;
    }
    int number = own.number();
    places.removeIf(place -> place.number() >= number);
    places.sort(Place.FIRST_TO_LAST);
    line = new Line(mode, kind, places, lockPath);
    state = State.WAITING;
    return true;
  }

  private void firstAnswer(CompletableFuture<Standing> answer, @Nullable Throwable error) {
    if (error != null) {
      mutex.lock();
      try {
        state = state == State.WAITING ? State.UNKNOWN : state;
      } finally {
        mutex.unlock();
      }
      answer.completeExceptionally(all.failures().of(error));
      return;
    }
    standing()
        .whenComplete(
            (standing, failed) -> {
              if (failed != null) {
                answer.completeExceptionally(failed);
              } else if (standing instanceof Standing.Waiting && !claim.queues()) {
                end(Duration.ZERO)
                    .whenComplete(
                        (nothing, unended) -> {
                          if (unended == null) {
                            answer.complete(Standing.GONE);
                          } else {
                            answer.completeExceptionally(all.failures().of(unended));
                          }
                        });
              } else {
                answer.complete(standing);
              }
            });
  }

  // ------------------------------------------------------------------------------------- waiting

  /** Looks at what stands before it until it is held, or enough of that is watched. */
  CompletableFuture<Void> evaluate() {
    CompletableFuture<Void> begun;
    mutex.lock();
    try {
      if (evaluating != null) {
        return evaluating;
      }
      begun = new CompletableFuture<>();
      evaluating = begun;
    } finally {
      mutex.unlock();
    }
    step(0);
    return begun;
  }

  private void step(int gone) {
    Before next = null;
    boolean relist = false;
    Standing.Held granted = null;
    CompletableFuture<Void> done = null;
    mutex.lock();
    try {
      if (state == State.WAITING && line != null && failure == null) {
        next = line.next();
        if (next == null && line.isFree()) {
          granted = grant();
        }
        relist = next != null && gone >= MOST_GONE;
      }
      if (next == null) {
        done = evaluating;
        evaluating = null;
      }
    } finally {
      mutex.unlock();
    }
    if (next == null) {
      if (granted != null && answered) {
        bell.ring(granted);
      }
      if (done != null) {
        done.complete(null);
      }
    } else if (relist) {
      relist();
    } else {
      look(next, gone);
    }
  }

  private Standing.@Nullable Held grant() {
    try {
      held = ZxidTokens.of(claim.lock(), zxid, claim.tokens(), claim.tokenFloor());
      state = State.HELD;
      return held;
    } catch (StoreException e) {
      failure = e;
      return null;
    }
  }

  private void stumbled(Throwable error) {
    CompletableFuture<Void> done;
    mutex.lock();
    try {
      done = evaluating;
      evaluating = null;
      if (line != null) {
        line.isDoubtful();
      }
    } finally {
      mutex.unlock();
    }
    if (done != null) {
      done.completeExceptionally(error);
    }
  }

  private void relist() {
    session
        .children(lockPath)
        .whenComplete(
            (names, error) -> {
              if (error != null) {
                stumbled(error);
                return;
              }
              mutex.lock();
              try {
                if (line != null) {
                  line.retain(names == null ? List.of() : new HashSet<>(names));
                }
              } finally {
                mutex.unlock();
              }
              step(0);
            });
  }

  private void look(Before before, int gone) {
    Runnable watcher;
    int signs;
    mutex.lock();
    try {
      watcher = watchers.computeIfAbsent(before, each -> () -> changed(each));
      signs = before.signs();
    } finally {
      mutex.unlock();
    }
    session
        .read(before.path, watcher)
        .whenComplete(
            (node, error) -> {
              try {
                if (error != null) {
                  stumbled(error);
                } else if (node == null) {
                  isGone(before, gone);
                } else if (before.place.kept()) {
                  lookAtSign(before, node, watcher, signs, gone);
                } else {
                  isThere(before, Stored.parse(before.path, node.data()).mode(), signs, gone);
                }
              } catch (StoreException e) {
                stumbled(e);
              }
            });
  }

  private void isThere(Before before, Mode now, int signs, int gone) {
    mutex.lock();
    try {
      if (line != null) {
        line.isThere(before, now, signs);
      }
    } finally {
      mutex.unlock();
    }
    step(gone);
  }

  private void isGone(Before before, int gone) {
    mutex.lock();
    try {
      unwatch(before, watchers.remove(before));
      if (line != null) {
        line.isGone(before);
      }
    } finally {
      mutex.unlock();
    }
    step(gone + 1);
  }

  private void changed(Before before) {
    mutex.lock();
    try {
      if (line == null || state != State.WAITING) {
        return;
      }
      line.isDoubtful(before);
    } finally {
      mutex.unlock();
    }
    evaluateAnew();
  }

  /** An evaluation that is under way may have looked already. */
  private void evaluateAnew() {
    evaluate()
        .whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.debug("claim {}: the queue could not be looked at", claim.id(), error);
              } else if (isToLookAgain()) {
                evaluateAnew();
              }
            });
  }

  private boolean isToLookAgain() {
    mutex.lock();
    try {
      return state == State.WAITING
          && failure == null
          && line != null
          && (line.isFree() || line.next() != null);
    } finally {
      mutex.unlock();
    }
  }

  /** A kept node stands for a client that lives, or for a shortest hold that is not over. */
  private void lookAtSign(Before before, Node node, Runnable watcher, int signs, int gone) {
    Stored stored = Stored.parse(before.path, node.data());
    session
        .read(lockPath + "/" + Nodes.sign(before.place.id()), watcher)
        .whenComplete(
            (sign, error) -> {
              if (error != null) {
                stumbled(error);
                return;
              }
              if (sign != null) {
                isThere(before, stored.mode(), signs, gone);
                return;
              }
              long left = stored.granted() ? leftMillis(node, stored.holdMillis()) : 0;
              if (left <= 0) {
                remove(before, node, gone);
              } else {
                all.clock().after((left + 1) * 1_000_000, watcher);
                isThere(before, stored.mode(), signs, gone);
              }
            });
  }

  /** By the service's own time, which is at least as late as this. */
  private long leftMillis(Node node, long holdMillis) {
    mutex.lock();
    try {
      long nowMillis = placedMillis + (System.nanoTime() - placedNanos) / 1_000_000;
      return node.stat().getMtime() + holdMillis - nowMillis;
    } finally {
      mutex.unlock();
    }
  }

  private void remove(Before before, Node node, int gone) {
    session
        .delete(before.path, node.stat().getVersion())
        .whenComplete(
            (was, error) -> {
              if (error == null) {
                isGone(before, gone);
              } else if (Failures.code(error) == Code.BADVERSION) {
                step(gone);
              } else {
                stumbled(error);
              }
            });
  }

  private void kindChanged() {
    if (!stands()) {
      return;
    }
    session
        .read(lockPath, kindWatcher)
        .whenComplete(
            (node, error) -> {
              if (node != null) {
                try {
                  kindIs(Stored.parseKind(lockPath, node.data()));
                } catch (StoreException e) {
                  log.warn("lock '{}' is unreadable", claim.lock(), e);
                }
              }
            });
  }

  private void kindIs(Kind kind) {
    boolean tooMany;
    mutex.lock();
    try {
      if (state != State.WAITING || line == null) {
        return;
      }
      tooMany = Nodes.units(mode) > kind.capacity();
      line.setKind(kind);
    } finally {
      mutex.unlock();
    }
    if (tooMany) {
      end(Duration.ZERO)
          .whenComplete(
              (nothing, error) -> {
                if (error != null) {
                  log.debug("claim {} could not leave yet", claim.id(), error);
                }
              });
    } else {
      evaluateAnew();
    }
  }

  // ------------------------------------------------------------------------------------- standing

  /** What has to be there for the claim to stand; empty if it does not, or nobody knows. */
  List<Op> checks() {
    mutex.lock();
    try {
      if (path == null || (state != State.WAITING && state != State.HELD)) {
        return List.of();
      }
      return kept
          ? List.of(Op.check(path, -1), Op.check(signPath(), -1))
          : List.of(Op.check(path, -1));
    } finally {
      mutex.unlock();
    }
  }

  /** A waiting claim looks once more, should a sign have been lost. */
  CompletableFuture<Void> lookAgain() {
    mutex.lock();
    try {
      if (state != State.WAITING || line == null) {
        return CompletableFuture.completedFuture(null);
      }
      line.isDoubtful();
    } finally {
      mutex.unlock();
    }
    return evaluate();
  }

  /** How it stands, once what is under way has come to its end. */
  CompletableFuture<Standing> standing() {
    CompletableFuture<Void> pending;
    mutex.lock();
    try {
      pending = evaluating;
    } finally {
      mutex.unlock();
    }
    if (pending != null) {
      return pending.handle((nothing, error) -> error).thenCompose(error -> standing());
    }
    mutex.lock();
    try {
      if (failure != null) {
        StoreException why = failure;
        return end(Duration.ZERO)
            .handle((nothing, error) -> why)
            .thenCompose(CompletableFuture::failedFuture);
      }
      if (state == State.HELD && held != null) {
        answered = true;
        Standing.Held tokens = held;
        return !kept
            ? CompletableFuture.completedFuture(tokens)
            : mark().thenApply(marked -> marked ? tokens : Standing.GONE);
      }
      if (state == State.WAITING) {
        answered = true;
        return CompletableFuture.completedFuture(new Standing.Waiting(ASK_AGAIN));
      }
      if (state == State.UNKNOWN || state == State.JOINING) {
        return CompletableFuture.failedFuture(
            new StoreUnavailableException(
                all.settings().shown() + ": how claim " + claim.id() + " stands is not known"));
      }
      return CompletableFuture.completedFuture(Standing.GONE);
    } finally {
      mutex.unlock();
    }
  }

  /** Notes that the client of a kept node has heard of its grant; false if its node has gone. */
  private CompletableFuture<Boolean> mark() {
    if (marking == null || marking.isCompletedExceptionally()) {
      List<Op> ops =
          List.of(
              Op.setData(path, Stored.of(claim, mode, true).bytes(), -1), Op.check(signPath(), -1));
      marking =
          session
              .multi(ops)
              .thenApply(
                  results -> {
                    markedNanos = System.nanoTime();
                    return firstError(results) == null;
                  });
    }
    return marking.thenApply(
        marked -> {
          if (!marked) {
            vanished();
          }
          return marked;
        });
  }

  /** Whether it is held as a writer. */
  boolean isHeldAlone() {
    mutex.lock();
    try {
      return state == State.HELD && mode instanceof Mode.Exclusive;
    } finally {
      mutex.unlock();
    }
  }

  /** A held writer becomes a reader. */
  CompletableFuture<Standing> downgrade() {
    CompletableFuture<Stat> written;
    Standing.Held tokens;
    mutex.lock();
    try {
      if (state != State.HELD
          || !(mode instanceof Mode.Exclusive)
          || path == null
          || held == null) {
        return CompletableFuture.failedFuture(
            new StoreUnavailableException(
                all.settings().shown() + ": claim " + claim.id() + " changes just now; try again"));
      }
      tokens = held;
      written = session.write(path, Stored.of(claim, Mode.SHARED, kept).bytes());
    } finally {
      mutex.unlock();
    }
    return written.handle(
        (stat, error) -> {
          if (error == null) {
            mutex.lock();
            try {
              mode = Mode.SHARED;
            } finally {
              mutex.unlock();
            }
            return tokens;
          }
          if (Failures.code(error) == Code.NONODE) {
            vanished();
            return Standing.GONE;
          }
          throw all.failures().of(error);
        });
  }

  /** Its node is not there: evicted, or its session has ended. */
  void vanished() {
    mutex.lock();
    try {
      if (state == State.LINGERING) {
        return;
      }
      state = State.ENDED;
      held = null;
      unwatch();
    } finally {
      mutex.unlock();
    }
    all.forget(this);
  }

  // ------------------------------------------------------------------------------------- ending

  /** A claim that has yet to join, or that cannot any more. */
  private void gone() {
    state = State.ENDED;
    all.forget(this);
    joining.complete(Standing.GONE);
  }

  private void unwatch(Before before, @Nullable Runnable watcher) {
    if (watcher != null) {
      session.unwatch(before.path, watcher);
      if (before.place.kept()) {
        session.unwatch(lockPath + "/" + Nodes.sign(before.place.id()), watcher);
      }
    }
  }

  private void unwatch() {
    watchers.forEach(this::unwatch);
    watchers.clear();
    session.unwatch(lockPath, kindWatcher);
    line = null;
  }

  /**
   * Ends it. The stage completes when its node is gone, or stands for nothing but what is left of
   * its shortest hold.
   */
  CompletableFuture<Void> end(Duration minHold) {
    CompletableFuture<Standing> first;
    mutex.lock();
    try {
      ended = true;
      if (state == State.ENDED || state == State.LINGERING) {
        return CompletableFuture.completedFuture(null);
      }
      if (going != null && !going.isCompletedExceptionally()) {
        return going;
      }
      first = state == State.JOINING && path == null ? joining : null;
      if (first == null) {
        if (state != State.ENDING) { // a repetition ends it as the first call would have
          heldAtEnd = state == State.HELD;
          holdAtEnd = minHold;
        }
        endedNanos = System.nanoTime();
        unwatch();
        state = State.ENDING;
        going = path == null ? search() : leave();
        return going;
      }
    } finally {
      mutex.unlock();
    }
    return first.handle((standing, error) -> null).thenCompose(nothing -> end(minHold));
  }

  /** Whether it has to be tried once more to end it. */
  boolean isStuck(long now) {
    mutex.lock();
    try {
      return state == State.ENDING
          && going != null
          && going.isCompletedExceptionally()
          && now - endedNanos > 500_000_000;
    } finally {
      mutex.unlock();
    }
  }

  private CompletableFuture<Void> search() {
    return session
        .barrier()
        .thenCombine(session.children(lockPath), (agreed, names) -> names)
        .thenCompose(
            names -> {
              mutex.lock();
              try {
                listed = names;
                String name = ownName();
                path = name == null ? null : lockPath + "/" + name;
                return leave();
              } finally {
                mutex.unlock();
              }
            });
  }

  private CompletableFuture<Void> leave() {
    String own = path;
    Duration minHold = holdAtEnd;
    if (own == null) {
      removed();
      return CompletableFuture.completedFuture(null);
    }
    if (!kept) {
      return session.delete(own, -1).thenRun(this::removed);
    }
    if (!heldAtEnd || minHold.isZero()) {
      return removeKept(session, own);
    }
    boolean marked = marking != null && marking.isDone() && !marking.isCompletedExceptionally();
    long left = marked ? markedNanos + minHold.toNanos() - System.nanoTime() : minHold.toNanos();
    if (left <= 0) {
      return removeKept(session, own);
    }
    List<Op> ops =
        marked
            ? List.of(Op.delete(signPath(), -1))
            : List.of(
                Op.setData(own, Stored.of(claim, mode, true).bytes(), -1),
                Op.delete(signPath(), -1));
    return session
        .multi(ops)
        .thenAccept(
            results -> { // an error means that it was done before, or that the claim was evicted
              mutex.lock();
              try {
                state = State.LINGERING;
              } finally {
                mutex.unlock();
              }
              lingering =
                  all.clock().after(marked ? left : minHold.toNanos(), () -> endLingering(own));
            });
  }

  /** What is left of a shortest hold is over. Whoever waits would find out as well. */
  private void endLingering(String own) {
    all.base()
        .delete(own, -1)
        .whenComplete(
            (was, error) -> {
              if (error == null) {
                removed();
              } else {
                lingering = all.clock().after(1_000_000_000, () -> endLingering(own));
              }
            });
  }

  private CompletableFuture<Void> removeKept(Session by, String own) {
    return by.delete(own, -1)
        .thenCombine(by.delete(signPath(), -1), (was, sign) -> null)
        .thenRun(this::removed);
  }

  private void removed() {
    mutex.lock();
    try {
      state = State.ENDED;
    } finally {
      mutex.unlock();
    }
    all.forget(this);
  }

  /** Its session has ended, and its node with it unless that is kept. */
  void sessionEnded() {
    String own;
    boolean toRemove;
    mutex.lock();
    try {
      if (state == State.LINGERING || state == State.ENDED) {
        return;
      }
      boolean marked = marking != null;
      own = path;
      toRemove = kept && own != null && !marked;
      if (state == State.JOINING) {
        return; // its requests fail, one after another
      }
      state = State.ENDED;
      held = null;
      line = null;
      watchers.clear();
    } finally {
      mutex.unlock();
    }
    all.forget(this);
    if (toRemove && own != null) {
      all.base()
          .delete(own, -1)
          .whenComplete(
              (was, error) -> {
                if (error != null) {
                  log.debug("claim {}: its node is left to whoever comes next", claim.id(), error);
                }
              });
    }
  }

  /** Nothing is to happen any more. */
  void abandon() {
    Future<?> pending = lingering;
    if (pending != null) {
      pending.cancel(false);
    }
  }

  ClaimId id() {
    return claim.id();
  }
}
