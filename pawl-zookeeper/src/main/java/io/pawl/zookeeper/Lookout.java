package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.Followers.Turn;
import io.pawl.zookeeper.Line.Before;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Nodes.Queue;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Remains.Finding;
import io.pawl.zookeeper.Requests.Node;
import io.pawl.zookeeper.Requests.OnChange;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at what stands before a claim until the claim is held, or enough of that is watched; and
 * once more whenever a sign comes.
 */
final class Lookout {

  private static final Logger log = LoggerFactory.getLogger(Lookout.class);

  /** Where more are watched, they are listed instead of being looked at one by one. */
  private static final int MOST_WATCHED = 8;

  /** How many nodes are looked at in one trip. */
  private static final int MOST_AT_ONCE = 100;

  /** A look that takes more steps goes on, and the client hears meanwhile that it waits. */
  private static final int MOST_STEPS = 8;

  /**
   * A look that is under way.
   *
   * @param answerable complete as soon as the client may be told how the claim stands
   */
  private record Look(CompletableFuture<Void> answerable, CompletableFuture<Void> done) {}

  private final QueuedClaim own;
  private final Claim claim;
  private final Session session;
  private final String lockPath;
  private final Followers followers;
  private final Remains remains;

  private final KindWatch kind;

  /** These are guarded by the claim's mutex. */
  private final Map<Before, OnChange> watchers = new HashMap<>();

  private @Nullable Line line;
  private @Nullable Look current;

  /** A claim before ours has gone since the queue was listed. */
  private boolean someGone;

  /** Its place among those of this client that wait for the same permits. */
  private @Nullable Turn turn;

  /** So many of these wait before it that it need not look, unless it has room already. */
  private boolean asleep;

  Lookout(QueuedClaim own, Clock clock, Followers followers) {
    this.followers = followers;
    this.remains = new Remains(own, clock);
    this.own = own;
    this.claim = own.claim();
    this.session = own.session();
    this.lockPath = own.lockPath();
    this.kind = new KindWatch(own, this::evaluateAnew);
  }

  Remains remains() {
    return remains;
  }

  KindWatch kind() {
    return kind;
  }

  /**
   * From now on {@code places} stand before it. Under the mutex.
   *
   * @param read the kind of the lock, as it was after there had been {@code signs}
   * @param number of its own node
   * @param passedOn whether the one directly before it may pass its hold on to it
   */
  void begin(Kind read, List<Place> places, int number, int signs, boolean passedOn) {
    leaveTurn();
    if (own.mode instanceof Mode.Permits) {
      takeTurn(new Turn(session, lockPath, number, this::wake));
    }
    boolean further = claim.queues() && !passedOn && own.mode instanceof Mode.Exclusive;
    int ahead = further ? 1 : 0;
    line = new Line(own.mode, read, places, lockPath, ahead);
    kind.isRead(signs);
  }

  /** One that does not queue is in nobody's way. */
  private void takeTurn(Turn taken) {
    if (claim.queues()) {
      turn = taken;
      followers.waits(taken);
    }
    asleep = !followers.isToLook(taken);
  }

  /** It waits no more. Under the mutex. */
  void leaveTurn() {
    Turn left = turn;
    turn = null;
    asleep = false;
    if (left != null) {
      followers.waitsNoMore(left);
    }
  }

  /** So few wait before it by now that it looks. */
  private void wake() {
    own.mutex.lock();
    try {
      isAwake();
    } finally {
      own.mutex.unlock();
    }
    evaluateAnew();
  }

  private void isAwake() {
    someGone |= asleep;
    asleep = false;
  }

  /** Nothing is watched any more. Under the mutex. */
  void stop() {
    leaveTurn();
    watchers.forEach(this::unwatch);
    watchers.clear();
    kind.stop();
    remains.stop();
    line = null;
  }

  private void unwatch(Before before, @Nullable OnChange watcher) {
    if (watcher != null) {
      session.ask().unwatch(before.path(), watcher);
      if (before.place.kept()) {
        session.ask().unwatch(remains.sign(before.place), watcher);
      }
    }
  }

  /** Completes when a look that is under way allows an answer. */
  CompletableFuture<Void> underWay() {
    own.mutex.lock();
    try {
      return current == null ? CompletableFuture.completedFuture(null) : current.answerable();
    } finally {
      own.mutex.unlock();
    }
  }

  /**
   * A waiting claim looks once more, should a sign have been lost: at the number of permits, and at
   * each node that it watches, or at the names of all where these are many.
   *
   * @param listing lists the queue
   */
  CompletableFuture<Void> lookAgain(Supplier<CompletableFuture<@Nullable Queue>> listing) {
    boolean many;
    own.mutex.lock();
    try {
      if (own.state != State.WAITING || line == null) {
        return CompletableFuture.completedFuture(null);
      }
      kind.isToBeRead();
      if (turn != null && followers.isToLook(turn)) {
        isAwake();
      }
      many = !asleep && line.watched() > MOST_WATCHED;
      if (!many) {
        line.isDoubtful();
      }
    } finally {
      own.mutex.unlock();
    }
    return many
        ? listing.get().thenAccept(this::isListed).thenCompose(nothing -> evaluate())
        : evaluate();
  }

  private void isListed(@Nullable Queue queue) {
    boolean vanished = false;
    own.mutex.lock();
    try {
      if (line != null) {
        int before = own.node().before(queue);
        vanished = queue == null || before < 0;
        if (queue != null && !vanished) {
          line.isListed(queue, before);
        }
      }
    } finally {
      own.mutex.unlock();
    }
    if (vanished) {
      own.isOver();
    }
  }

  /**
   * Looks at what stands before it until it is held, or enough of that is watched. Completes when
   * that is so, or when it takes long.
   */
  CompletableFuture<Void> evaluate() {
    return look().answerable();
  }

  /** The look that is under way, or a new one. */
  private Look look() {
    Look begun;
    own.mutex.lock();
    try {
      if (current != null) {
        return current;
      }
      begun = new Look(new CompletableFuture<>(), new CompletableFuture<>());
      current = begun;
    } finally {
      own.mutex.unlock();
    }
    step(begun, 0);
    return begun;
  }

  // -------------------------------------------------------------- one step after another

  /** A look ends, whatever is thrown in it: others wait for it. */
  private void step(Look look, int steps) {
    try {
      goOn(look, steps);
    } catch (RuntimeException | Error e) {
      stumbled(look, e);
    }
  }

  /**
   * Where the nearest claim has gone, those before it have as a rule gone earlier: so the queue is
   * listed, and not gone through one by one.
   */
  private void goOn(Look look, int steps) {
    if (steps >= MOST_STEPS) {
      look.answerable().complete(null);
    }
    List<Before> next = List.of();
    boolean kindFirst = false;
    boolean lists = false;
    Standing.Held granted = null;
    Bell rung = null;
    own.mutex.lock();
    try {
      if (isLooking() && line != null) {
        kindFirst = kind.isDoubtful();
        boolean looks = !kindFirst && !asleep;
        next = looks ? line.next(MOST_AT_ONCE) : next;
        if (!kindFirst && line.isFree()) {
          granted = grant();
          rung = own.answered ? own.bell : null;
          leaveTurn();
        }
        lists = looks && line.isShort();
      }
      if (!kindFirst && someGone && !next.isEmpty()) {
        lists = true;
      }
      if (lists) {
        someGone = false;
      } else if (!kindFirst && next.isEmpty()) {
        current = null;
      }
    } finally {
      own.mutex.unlock();
    }
    if (kindFirst) {
      readKind(look, steps);
    } else if (lists) {
      relist(look, steps);
    } else if (!next.isEmpty()) {
      lookAt(look, next, steps);
    } else {
      if (granted != null && rung != null) {
        rung.ring(granted);
      }
      look.answerable().complete(null);
      look.done().complete(null);
    }
  }

  /** Whether it waits to be granted. Under the mutex. */
  private boolean isLooking() {
    return own.state == State.WAITING && own.failure == null && !own.ended && !own.sessionOver;
  }

  private Standing.@Nullable Held grant() {
    try {
      Standing.Held held =
          ZxidTokens.of(claim.lock(), own.node().zxid(), claim.tokens(), claim.tokenFloor());
      String path = own.node().path();
      own.held = path == null ? held : followers.named(held, path);
      own.state = State.HELD;
      return own.held;
    } catch (StoreException e) {
      own.failure = e;
      return null;
    }
  }

  private void stumbled(Look look, Throwable error) {
    own.mutex.lock();
    try {
      if (current == look) {
        current = null;
      }
      if (line != null) {
        line.isDoubtful();
      }
    } finally {
      own.mutex.unlock();
    }
    look.answerable().completeExceptionally(error);
    look.done().completeExceptionally(error);
  }

  /** Goes on when {@code trip} has come to its end. */
  private void goOnAfter(CompletableFuture<?> trip, Look look, int steps) {
    trip.whenComplete(
        (nothing, error) -> {
          if (error == null) {
            step(look, steps + 1);
          } else {
            stumbled(look, error);
          }
        });
  }

  private void relist(Look look, int steps) {
    goOnAfter(session.ask().queueNow(lockPath).thenAccept(this::isListed), look, steps);
  }

  /** In one trip, since no request waits for another one; kept nodes take more. */
  private void lookAt(Look look, List<Before> next, int steps) {
    CompletableFuture<?>[] looks =
        next.stream().map(this::lookAt).toArray(CompletableFuture[]::new);
    goOnAfter(CompletableFuture.allOf(looks), look, steps);
  }

  private CompletableFuture<Void> lookAt(Before before) {
    OnChange watcher;
    boolean first;
    int signs;
    own.mutex.lock();
    try {
      first = !watchers.containsKey(before);
      watcher = watchers.computeIfAbsent(before, each -> deleted -> changed(each, deleted));
      signs = before.signs();
    } finally {
      own.mutex.unlock();
    }
    Requests ask = session.ask();
    CompletableFuture<@Nullable Node> read =
        first ? ask.sharedRead(before.path(), watcher) : ask.read(before.path(), watcher);
    return read.thenCompose(
            node -> {
              if (node == null) {
                isFound(before, Finding.GONE, 0, signs);
                return CompletableFuture.<Void>completedFuture(null);
              }
              long units = Stored.units(before.place, node.data());
              CompletableFuture<Finding> finding =
                  before.place.kept()
                      ? remains.look(before.place, node, watcher)
                      : CompletableFuture.completedFuture(Finding.STANDS);
              return finding.thenAccept(found -> isFound(before, found, units, signs));
            })
        .whenComplete((nothing, error) -> unwatchIfOver(before, watcher));
  }

  private void isFound(Before before, Finding finding, long units, int signs) {
    own.mutex.lock();
    try {
      if (finding == Finding.GONE) {
        someGone = true;
        unwatch(before, watchers.remove(before));
      }
      if (line == null || finding == Finding.UNKNOWN) {
        return;
      }
      if (finding == Finding.GONE) {
        line.isGone(before);
      } else {
        line.isThere(before, units, signs);
      }
    } finally {
      own.mutex.unlock();
    }
  }

  /** The claim may have ended while it asked to be told. */
  private void unwatchIfOver(Before before, OnChange watcher) {
    own.mutex.lock();
    try {
      if (line == null) {
        unwatch(before, watcher);
        watchers.remove(before);
      }
    } finally {
      own.mutex.unlock();
    }
  }

  private void readKind(Look look, int steps) {
    goOnAfter(kind.read().thenAccept(this::kindIs), look, steps);
  }

  private void kindIs(Kind read) {
    own.mutex.lock();
    try {
      if (line == null) {
        kind.stop();
      } else {
        line.setKind(read);
      }
    } finally {
      own.mutex.unlock();
    }
    kind.leaveIfTooFew(read);
  }

  // -------------------------------------------------------------- signs

  /** Of a kept node the end of its sign may be what was told. */
  private void changed(Before before, boolean deleted) {
    own.mutex.lock();
    try {
      if (line == null || own.state != State.WAITING) {
        return;
      }
      if (deleted && !before.place.kept()) {
        watchers.remove(before);
        line.isGone(before);
        someGone = true;
      } else {
        line.isDoubtful(before);
      }
    } finally {
      own.mutex.unlock();
    }
    evaluateAnew();
  }

  /** A look that is under way may have looked already. */
  private void evaluateAnew() {
    look()
        .done()
        .whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.debug("claim {}: the queue could not be looked at", own.id(), error);
              } else if (isToLookAgain()) {
                evaluateAnew();
              }
            });
  }

  private boolean isToLookAgain() {
    own.mutex.lock();
    try {
      return isLooking() && line != null && (kind.isDoubtful() || !asleep && !line.isSettled());
    } finally {
      own.mutex.unlock();
    }
  }
}
