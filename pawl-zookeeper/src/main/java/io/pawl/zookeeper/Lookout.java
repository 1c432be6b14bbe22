package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.Line.Before;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Requests.Node;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at what stands before a claim until the claim is held, or enough of that is watched; and
 * once more whenever a sign comes.
 */
final class Lookout {

  private static final Logger log = LoggerFactory.getLogger(Lookout.class);

  /** After so many claims before ours that have gone, the queue is listed once more. */
  private static final int MOST_GONE = 8;

  private final QueuedClaim own;
  private final Claim claim;
  private final Session session;
  private final String lockPath;
  private final Remains remains;

  /** The same object every time, so that it can be taken back. */
  private final Runnable kindWatcher = this::kindChanged;

  /** These three are guarded by the claim's mutex. */
  private final Map<Before, Runnable> watchers = new HashMap<>();

  private @Nullable Line line;
  private @Nullable CompletableFuture<Void> evaluating;

  Lookout(QueuedClaim own, Clock clock) {
    this.remains = new Remains(own, clock);
    this.own = own;
    this.claim = own.claim();
    this.session = own.session();
    this.lockPath = own.lockPath();
  }

  Remains remains() {
    return remains;
  }

  Runnable kindWatcher() {
    return kindWatcher;
  }

  /** From now on {@code places} stand before it. Under the mutex. */
  void begin(Kind kind, List<Place> places) {
    line = new Line(own.mode, kind, places, lockPath);
  }

  /** Nothing is watched any more. Under the mutex. */
  void stop() {
    watchers.forEach(this::unwatch);
    watchers.clear();
    session.ask().unwatch(lockPath, kindWatcher);
    remains.stop();
    line = null;
  }

  private void unwatch(Before before, @Nullable Runnable watcher) {
    if (watcher != null) {
      session.ask().unwatch(before.path, watcher);
      if (before.place.kept()) {
        session.ask().unwatch(remains.sign(before.place), watcher);
      }
    }
  }

  /** The look that is under way, if any. */
  @Nullable CompletableFuture<Void> underWay() {
    own.mutex.lock();
    try {
      return evaluating;
    } finally {
      own.mutex.unlock();
    }
  }

  /** A waiting claim looks once more, should a sign have been lost. */
  CompletableFuture<Void> lookAgain() {
    own.mutex.lock();
    try {
      if (own.state != State.WAITING || line == null) {
        return CompletableFuture.completedFuture(null);
      }
      line.isDoubtful();
    } finally {
      own.mutex.unlock();
    }
    return evaluate();
  }

  /** Looks at what stands before it until it is held, or enough of that is watched. */
  CompletableFuture<Void> evaluate() {
    CompletableFuture<Void> begun;
    own.mutex.lock();
    try {
      if (evaluating != null) {
        return evaluating;
      }
      begun = new CompletableFuture<>();
      evaluating = begun;
    } finally {
      own.mutex.unlock();
    }
    step(0);
    return begun;
  }

  // -------------------------------------------------------------- one look after another

  private void step(int gone) {
    Before next = null;
    Standing.Held granted = null;
    Bell rung = null;
    CompletableFuture<Void> done = null;
    own.mutex.lock();
    try {
      if (own.state == State.WAITING && line != null && own.failure == null) {
        next = line.next();
        if (next == null && line.isFree()) {
          granted = grant();
          rung = own.answered ? own.bell : null;
        }
      }
      if (next == null) {
        done = evaluating;
        evaluating = null;
      }
    } finally {
      own.mutex.unlock();
    }
    if (next == null) {
      if (granted != null && rung != null) {
        rung.ring(granted);
      }
      if (done != null) {
        done.complete(null);
      }
    } else if (gone >= MOST_GONE) {
      relist();
    } else {
      look(next, gone);
    }
  }

  private Standing.@Nullable Held grant() {
    try {
      Standing.Held held =
          ZxidTokens.of(claim.lock(), own.node().zxid(), claim.tokens(), claim.tokenFloor());
      own.held = held;
      own.state = State.HELD;
      return held;
    } catch (StoreException e) {
      own.failure = e;
      return null;
    }
  }

  private void stumbled(Throwable error) {
    CompletableFuture<Void> done;
    own.mutex.lock();
    try {
      done = evaluating;
      evaluating = null;
      if (line != null) {
        line.isDoubtful();
      }
    } finally {
      own.mutex.unlock();
    }
    if (done != null) {
      done.completeExceptionally(error);
    }
  }

  private void relist() {
    session
        .ask()
        .children(lockPath)
        .whenComplete(
            (names, error) -> {
              if (error != null) {
                stumbled(error);
                return;
              }
              own.mutex.lock();
              try {
                if (line != null) {
                  line.retain(names == null ? List.of() : new HashSet<>(names));
                }
              } finally {
                own.mutex.unlock();
              }
              step(0);
            });
  }

  private void look(Before before, int gone) {
    Runnable watcher;
    int signs;
    own.mutex.lock();
    try {
      watcher = watchers.computeIfAbsent(before, each -> () -> changed(each));
      signs = before.signs();
    } finally {
      own.mutex.unlock();
    }
    session
        .ask()
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
    own.mutex.lock();
    try {
      if (line != null) {
        line.isThere(before, now, signs);
      }
    } finally {
      own.mutex.unlock();
    }
    step(gone);
  }

  private void isGone(Before before, int gone) {
    own.mutex.lock();
    try {
      unwatch(before, watchers.remove(before));
      if (line != null) {
        line.isGone(before);
      }
    } finally {
      own.mutex.unlock();
    }
    step(gone + 1);
  }

  private void lookAtSign(Before before, Node node, Runnable watcher, int signs, int gone) {
    Mode now = Stored.parse(before.path, node.data()).mode();
    remains
        .look(before.place, node, watcher)
        .whenComplete(
            (finding, error) -> {
              if (error != null) {
                stumbled(error);
                return;
              }
              switch (finding) {
                case STANDS -> isThere(before, now, signs, gone);
                case GONE -> isGone(before, gone);
                case UNKNOWN -> step(gone);
              }
            });
  }

  // -------------------------------------------------------------- signs

  private void changed(Before before) {
    own.mutex.lock();
    try {
      if (line == null || own.state != State.WAITING) {
        return;
      }
      line.isDoubtful(before);
    } finally {
      own.mutex.unlock();
    }
    evaluateAnew();
  }

  /** An evaluation that is under way may have looked already. */
  private void evaluateAnew() {
    evaluate()
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
      return own.state == State.WAITING
          && own.failure == null
          && line != null
          && (line.isFree() || line.next() != null);
    } finally {
      own.mutex.unlock();
    }
  }

  private void kindChanged() {
    if (!own.stands()) {
      return;
    }
    session
        .ask()
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
    own.mutex.lock();
    try {
      if (own.state != State.WAITING || line == null) {
        return;
      }
      tooMany = Nodes.units(own.mode) > kind.capacity();
      line.setKind(kind);
    } finally {
      own.mutex.unlock();
    }
    if (!tooMany) {
      evaluateAnew();
      return;
    }
    own.leaving()
        .end(Duration.ZERO)
        .whenComplete(
            (nothing, error) -> {
              if (error != null) {
                log.debug("claim {} could not leave yet", own.id(), error);
              }
            });
  }
}
