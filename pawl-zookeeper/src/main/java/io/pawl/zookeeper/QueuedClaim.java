package io.pawl.zookeeper;

import io.pawl.concurrent.Futures;
import io.pawl.concurrent.Timetable;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A claim of this client: it takes its place in the queue ({@link Joining}), waits for what stands
 * before it ({@link Lookout}), holds, and ends ({@link Leaving}). Joining takes one round trip
 * (create, list and read the kind travel together), to be told to wait one more, and to end one.
 *
 * <p>The mutex guards the state, which those three share. It is never held while a request is made,
 * a stage completes or a bell rings.
 */
final class QueuedClaim extends Timetable.Entry {

  /** The service says when a claim has ended; this is for a sign that was lost. */
  private static final Duration ASK_AGAIN = Duration.ofSeconds(2);

  enum State {
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
  private final OwnNode node;
  private final Joining joining;
  private final Lookout lookout;
  private final Leaving leaving;
  private volatile long heardNanos = System.nanoTime();

  /** Guards what follows, and what the three parts and the node say that it guards. */
  final ReentrantLock mutex = new ReentrantLock();

  State state = State.JOINING;
  Bell bell;
  Mode mode;
  Standing.@Nullable Held held;

  /** Why it cannot be granted, ever. */
  @Nullable StoreException failure;

  /**
   * Its client has been told how it stands, so that a grant is news to it. One that takes no place
   * in the queue leaves instead of waiting, and is granted nothing on its way out.
   */
  boolean answered;

  /** Its end was asked for, or its client fell silent: it is told that it has gone. */
  boolean ended;

  /** Its session has ended, so that it neither waits nor holds any more, whatever is answered. */
  boolean sessionOver;

  private boolean usesSession = true;

  private @Nullable CompletableFuture<Boolean> marking;
  private long markedNanos;

  QueuedClaim(QueuedClaims all, Claim claim, Bell bell, Session session) {
    this.all = all;
    this.claim = claim;
    this.bell = bell;
    this.mode = claim.mode();
    this.session = session;
    this.lockPath = all.nodes().lock(claim.lock());
    this.node = new OwnNode(claim, session, lockPath, all.settings().acl());
    this.lookout = new Lookout(this, all.clock(), all.followers());
    this.leaving = new Leaving(all, this, lookout);
    this.joining = new Joining(all, this, lookout, leaving);
  }

  Claim claim() {
    return claim;
  }

  ClaimId id() {
    return claim.id();
  }

  Session session() {
    return session;
  }

  Requests ask() {
    return session.ask();
  }

  String lockPath() {
    return lockPath;
  }

  OwnNode node() {
    return node;
  }

  Joining joining() {
    return joining;
  }

  Lookout lookout() {
    return lookout;
  }

  Leaving leaving() {
    return leaving;
  }

  void hear() {
    heardNanos = System.nanoTime();
  }

  /** When its client will not have spoken of it for its lease. */
  long silentFrom() {
    return heardNanos + claim.lease().toNanos();
  }

  /**
   * Whether its client has not spoken of it for its lease, nor waits for what becomes of an
   * attempt. If so it is to go, and whoever speaks of it from then on is told that.
   */
  boolean hasFallenSilent(long now) {
    mutex.lock();
    try {
      boolean silent = now - silentFrom() > 0 && joining.answer().isDone();
      ended = ended || silent;
      return silent;
    } finally {
      mutex.unlock();
    }
  }

  /** Nothing of it needs its session any more: once, however often this is called. */
  void leaveSession() {
    boolean leaves;
    mutex.lock();
    try {
      leaves = usesSession;
      usesSession = false;
    } finally {
      mutex.unlock();
    }
    if (leaves) {
      session.leave();
    }
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

  /** Whether it is nobody's any more, and its node stands for a shortest hold. */
  boolean lingers() {
    mutex.lock();
    try {
      return state == State.LINGERING;
    } finally {
      mutex.unlock();
    }
  }

  boolean isSessionOver() {
    mutex.lock();
    try {
      return sessionOver;
    } finally {
      mutex.unlock();
    }
  }

  /** What has to be there for the claim to stand; empty if it does not, or nobody knows. */
  List<Op> checks() {
    mutex.lock();
    try {
      return state == State.WAITING || state == State.HELD ? node.checks() : List.of();
    } finally {
      mutex.unlock();
    }
  }

  /** How it stands, once a look that is under way has come to its end, or takes long. */
  CompletableFuture<Standing> standing() {
    return lookout
        .underWay()
        .handle((nothing, error) -> nothing)
        .thenCompose(nothing -> standingNow());
  }

  private CompletableFuture<Standing> standingNow() {
    StoreException why;
    Standing.Held tokens = null;
    State now;
    mutex.lock();
    try {
      why = failure;
      boolean stands = state == State.HELD || state == State.WAITING;
      now = stands && ended ? State.ENDING : state;
      if (why == null && stands && !ended) {
        answered |= state == State.HELD || claim.queues();
        tokens = held;
      }
    } finally {
      mutex.unlock();
    }
    if (why != null) {
      return leaving
          .end(Duration.ZERO)
          .handle((nothing, error) -> why)
          .thenCompose(CompletableFuture::failedFuture);
    }
    return switch (now) {
      case HELD -> tokens == null ? gone() : heard(tokens);
      case WAITING -> CompletableFuture.completedFuture(new Standing.Waiting(ASK_AGAIN));
      case UNKNOWN, JOINING ->
          CompletableFuture.failedFuture(
              new StoreUnavailableException(
                  all.settings().shown() + ": how claim " + id() + " stands is not known"));
      case ENDING, LINGERING, ENDED -> gone();
    };
  }

  private static CompletableFuture<Standing> gone() {
    return CompletableFuture.completedFuture(Standing.GONE);
  }

  /** Its client hears of its grant, which a kept node has to say. */
  private CompletableFuture<Standing> heard(Standing.Held tokens) {
    return node.isKept()
        ? mark().thenCompose(marked -> marked ? unlessOver(tokens) : gone())
        : CompletableFuture.completedFuture(tokens);
  }

  /** It may have ended meanwhile: where it was its session, its client is to give the hold back. */
  private CompletableFuture<Standing> unlessOver(Standing.Held tokens) {
    if (isHeld()) {
      return CompletableFuture.completedFuture(tokens);
    }
    return isSessionOver()
        ? CompletableFuture.failedFuture(KeeperException.create(Code.SESSIONEXPIRED, lockPath))
        : gone();
  }

  /** False if its node has gone. */
  private CompletableFuture<Boolean> mark() {
    CompletableFuture<Boolean> marked;
    String own = null;
    Mode now;
    mutex.lock();
    try {
      marked = marking;
      now = mode;
      if (marked == null || marked.isCompletedExceptionally()) {
        own = node.path();
        marked = new CompletableFuture<>();
        marking = marked;
      }
    } finally {
      mutex.unlock();
    }
    if (own != null) {
      String marksAt = own;
      Futures.follow(
          marked,
          Futures.caught(() -> node.mark(marksAt, now))
              .thenApply(
                  results -> {
                    Code error = Requests.firstError(results);
                    if (error != null && error != Code.NONODE) {
                      throw new CompletionException(KeeperException.create(error, marksAt));
                    }
                    isMarked();
                    return error == null;
                  }));
    }
    return marked.thenApply(
        done -> {
          if (!done) {
            isOver();
          }
          return done;
        });
  }

  private void isMarked() {
    mutex.lock();
    try {
      markedNanos = System.nanoTime();
    } finally {
      mutex.unlock();
    }
  }

  /** When its grant was noted; null if that is not known. Under the mutex. */
  @Nullable Long markedNanos() {
    boolean marked = marking != null && marking.isDone() && !marking.isCompletedExceptionally();
    return marked ? markedNanos : null;
  }

  /** Whether its grant may have been noted. Under the mutex. */
  boolean mayBeMarked() {
    return marking != null;
  }

  /** Its shortest hold, if its client may have heard of the grant before it fell silent. */
  Duration keptInSilence() {
    mutex.lock();
    try {
      return mayBeMarked() ? claim.minHold() : Duration.ZERO;
    } finally {
      mutex.unlock();
    }
  }

  boolean isHeld() {
    mutex.lock();
    try {
      return state == State.HELD;
    } finally {
      mutex.unlock();
    }
  }

  /** Whether it is held as a writer. */
  boolean isHeldAlone() {
    mutex.lock();
    try {
      return state == State.HELD && !ended && mode instanceof Mode.Exclusive;
    } finally {
      mutex.unlock();
    }
  }

  /** A held writer becomes a reader. */
  CompletableFuture<Standing> downgrade() {
    Standing.Held tokens;
    String own;
    mutex.lock();
    try {
      boolean alone = state == State.HELD && !ended && mode instanceof Mode.Exclusive;
      tokens = alone ? held : null;
      own = node.path();
    } finally {
      mutex.unlock();
    }
    if (tokens == null || own == null) {
      return CompletableFuture.failedFuture(
          new StoreUnavailableException(
              all.settings().shown() + ": claim " + id() + " changes just now; try again"));
    }
    return ask()
        .write(own, Stored.of(claim, Mode.SHARED, node.isKept()).bytes(), -1)
        .handle((stat, error) -> downgraded(tokens, error));
  }

  private Standing downgraded(Standing.Held tokens, @Nullable Throwable error) {
    if (Failures.code(error) == Code.NONODE) {
      isOver();
      return Standing.GONE;
    }
    if (error != null) {
      throw all.failures().of(error);
    }
    mutex.lock();
    try {
      mode = Mode.SHARED;
    } finally {
      mutex.unlock();
    }
    return tokens;
  }

  /** There is no node at {@code path}: evicted, or its session has ended. */
  void vanished(String path) {
    boolean own;
    mutex.lock();
    try {
      own = node.has(path);
    } finally {
      mutex.unlock();
    }
    if (own) {
      isOver();
    }
  }

  /** It stands nowhere any more, and nobody asks for it. */
  void isOver() {
    mutex.lock();
    try {
      if (state == State.LINGERING) {
        return;
      }
      state = State.ENDED;
      held = null;
      lookout.stop();
    } finally {
      mutex.unlock();
    }
    all.forget(this);
  }

  /** The service wrote its node after {@code askedNanos}, and said when. */
  void isWritten(Stat stat, long askedNanos) {
    mutex.lock();
    try {
      node.isWritten(stat, askedNanos);
    } finally {
      mutex.unlock();
    }
  }

  /** Where its node was made, as soon as that is known. */
  void placedAt(String path, @Nullable Stat stat) {
    mutex.lock();
    try {
      node.isAt(path);
      if (stat != null) {
        node.learn(stat);
      }
    } finally {
      mutex.unlock();
    }
  }
}
