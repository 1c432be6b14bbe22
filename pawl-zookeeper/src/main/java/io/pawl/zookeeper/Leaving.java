package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.spi.Bell;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.QueuedClaim.State;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * How a claim ends: its node is removed, or left to stand for what is left of its shortest hold,
 * and is looked for first where nobody knows whether it was made.
 */
final class Leaving {

  private static final long LINGER_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final QueuedClaims all;
  private final QueuedClaim own;
  private final OwnNode node;
  private final Lookout lookout;

  /** These are guarded by the claim's mutex. */
  private @Nullable CompletableFuture<Void> going;

  private boolean heldAtEnd;
  private Duration holdAtEnd = Duration.ZERO;

  private volatile @Nullable Future<?> lingering;

  Leaving(QueuedClaims all, QueuedClaim own, Lookout lookout) {
    this.all = all;
    this.own = own;
    this.node = own.node();
    this.lookout = lookout;
  }

  /**
   * Ends the claim. The stage completes when its node is gone, or stands for nothing but what is
   * left of its shortest hold.
   *
   * @param minHold its shortest hold; zero if nobody worked under it, which also ends one that was
   *     left to stand since its client fell silent
   */
  CompletableFuture<Void> end(Duration minHold) {
    CompletableFuture<?> before = null;
    CompletableFuture<Void> begun = new CompletableFuture<>();
    boolean known;
    own.mutex.lock();
    try {
      own.ended = true;
      boolean sooner = minHold.isZero() && !holdAtEnd.isZero();
      CompletableFuture<Void> last = going;
      if (own.state == State.ENDED || (own.state == State.LINGERING && !sooner)) {
        return CompletableFuture.completedFuture(null);
      }
      if (last != null && !last.isCompletedExceptionally() && !sooner) {
        return last;
      }
      known = node.path() != null;
      if (own.state == State.JOINING && !known) {
        before = own.joining().answer();
      } else if (last != null && !last.isDone()) {
        before = last;
      } else {
        if (own.state != State.ENDING && own.state != State.LINGERING) {
          heldAtEnd = own.state == State.HELD;
          holdAtEnd = minHold;
        } else if (sooner) { // any other repetition ends it as the first call would have
          holdAtEnd = Duration.ZERO;
        }
        lookout.stop();
        own.state = State.ENDING;
        going = begun;
      }
    } finally {
      own.mutex.unlock();
    }
    own.leaveSession();
    if (before != null) {
      CompletableFuture<Void> later =
          before.handle((answer, error) -> null).thenCompose(nothing -> end(minHold));
      isEnding(later);
      return later;
    }
    begun.whenComplete(
        (nothing, error) -> {
          if (error != null) {
            all.endAgainLater(own);
          }
        });
    isEnding(begun);
    Futures.follow(begun, Futures.caught(() -> known ? leave() : search()));
    return begun;
  }

  private void isEnding(CompletableFuture<Void> end) {
    all.endings().begins(own.claim().lock(), own.session(), end);
  }

  /** Whether it has to be tried once more to end it. */
  boolean isStuck() {
    own.mutex.lock();
    try {
      return own.state == State.ENDING && going != null && going.isCompletedExceptionally();
    } finally {
      own.mutex.unlock();
    }
  }

  private CompletableFuture<Void> search() {
    return own.ask()
        .barrier()
        .thenCombine(own.ask().queue(own.lockPath()), (agreed, queue) -> queue)
        .thenCompose(
            queue -> {
              own.mutex.lock();
              try {
                node.isAt(node.find(queue));
              } finally {
                own.mutex.unlock();
              }
              return leave();
            });
  }

  private CompletableFuture<Void> leave() {
    String path;
    Mode mode;
    long leftNanos = 0;
    boolean marked;
    boolean over;
    own.mutex.lock();
    try {
      path = node.path();
      mode = own.mode;
      marked = own.markedNanos() != null;
      over = own.sessionOver;
      if (node.isKept() && heldAtEnd && !holdAtEnd.isZero()) {
        leftNanos = leftNanos();
      }
    } finally {
      own.mutex.unlock();
    }
    if (path == null) {
      removed();
      return CompletableFuture.completedFuture(null);
    }
    if (leftNanos <= 0) {
      return (over ? all.remove(path) : node.remove(path)).thenRun(this::removed);
    }
    long lingerNanos = leftNanos;
    return node.leaveBehind(path, mode, marked)
        .thenAccept(
            results -> {
              Code error = Requests.firstError(results);
              if (error != null && error != Code.NONODE) { // done before, or evicted
                throw new CompletionException(KeeperException.create(error, path));
              }
              linger(path, lingerNanos);
            });
  }

  /** Of the shortest hold, in a service whose clock may be 1 % slower. Under the mutex. */
  private long leftNanos() {
    Long markedNanos = own.markedNanos();
    long since = markedNanos == null ? 0 : System.nanoTime() - markedNanos;
    long nanos = holdAtEnd.toNanos();
    return nanos + nanos / 100 - since;
  }

  private void linger(String path, long nanos) {
    own.mutex.lock();
    try {
      if (own.state != State.ENDING) {
        return; // its session ended meanwhile: whoever waits finds out when the time is over
      }
      own.state = State.LINGERING;
    } finally {
      own.mutex.unlock();
    }
    lingering = all.clock().after(nanos, () -> endLingering(path));
  }

  /** Its node stands for nothing any more. */
  private void endLingering(String path) {
    all.remove(path)
        .whenComplete(
            (was, error) -> {
              if (error == null) {
                removed();
              } else if (!all.isClosed()) {
                lingering = all.clock().after(LINGER_AGAIN_NANOS, () -> endLingering(path));
              }
            });
  }

  private void removed() {
    own.mutex.lock();
    try {
      own.state = State.ENDED;
    } finally {
      own.mutex.unlock();
    }
    all.forget(own);
  }

  /**
   * Its session has ended, and its node with it unless that is kept. The client of a hold is told
   * at once: it trusts the hold for longer than a session lasts that another server has shortened.
   * A kept node stands for its shortest hold, and for a lease where its client trusts it until it
   * has heard of this; unless the client says yet that nobody worked under it.
   */
  void sessionEnded() {
    String path;
    long lingerNanos = 0;
    @Nullable Bell rung;
    own.mutex.lock();
    try {
      own.sessionOver = true;
      if (own.state == State.LINGERING || own.state == State.ENDED) {
        return;
      }
      if (own.state == State.JOINING) {
        return; // its requests fail, one after another, or find that it is over
      }
      path = node.isKept() ? node.path() : null;
      rung = own.state == State.HELD ? own.bell : null;
      if (own.state != State.ENDING) {
        heldAtEnd = own.mayBeMarked();
        holdAtEnd = own.claim().minHold();
      }
      if (path != null && heldAtEnd && !holdAtEnd.isZero()) {
        long trustedNanos = own.state == State.HELD ? own.claim().lease().toNanos() : 1;
        lingerNanos = Math.max(trustedNanos, leftNanos());
      }
      own.state = lingerNanos > 0 ? State.LINGERING : State.ENDED;
      own.held = null;
      lookout.stop();
    } finally {
      own.mutex.unlock();
    }
    if (lingerNanos > 0) {
      own.leaveSession();
    } else {
      all.forget(own);
    }
    if (all.isClosed()) {
      return; // its session runs out in its own time, and its client may be told yet that it holds
    }
    if (rung != null) {
      rung.ring(Standing.GONE);
    }
    if (path != null && lingerNanos > 0) {
      lingering = all.clock().after(lingerNanos, () -> endLingering(path));
    } else if (path != null) {
      endLingering(path);
    }
  }

  /** Nothing is to happen any more. */
  void abandon() {
    Future<?> pending = lingering;
    if (pending != null) {
      pending.cancel(false);
    }
  }

  /**
   * The claims of this client that are on their way out, by lock, and the attempts that wait for
   * them. What is asked under one session the service does in its order; what is asked under
   * another waits here, and so does whatever is asked after that. Thread-safe.
   */
  static final class Endings {

    /**
     * @param session under which all of it was asked; null where there are several
     * @param all completes when all of it has been answered, or has failed
     */
    private record Ending(@Nullable Session session, CompletableFuture<Void> all) {}

    private final Map<String, Ending> byLock = new ConcurrentHashMap<>();

    /** Such a claim is sent away. */
    void begins(String lock, Session session, CompletableFuture<Void> end) {
      Ending ending =
          byLock.merge(
              lock,
              new Ending(session, settled(end)),
              (before, last) ->
                  before.all.isDone()
                      ? last
                      : new Ending(
                          before.session == last.session ? last.session : null,
                          CompletableFuture.allOf(before.all, last.all)));
      forgetAfter(lock, ending);
    }

    /**
     * Returns what completes when an attempt may be sent: now, or behind what was asked before
     * under another session. One that waits has its place here until it has its {@code answer}.
     */
    CompletableFuture<Void> behind(String lock, Session session, CompletableFuture<?> answer) {
      Ending before = byLock.get(lock);
      while (before != null && before.session != session) {
        Ending both = new Ending(null, CompletableFuture.allOf(before.all, settled(answer)));
        if (byLock.replace(lock, before, both)) {
          forgetAfter(lock, both);
          return before.all;
        }
        before = byLock.get(lock);
      }
      return CompletableFuture.completedFuture(null);
    }

    private static CompletableFuture<Void> settled(CompletableFuture<?> stage) {
      return stage.handle((value, error) -> null);
    }

    private void forgetAfter(String lock, Ending ending) {
      ending.all.thenRun(() -> byLock.remove(lock, ending));
    }
  }
}
