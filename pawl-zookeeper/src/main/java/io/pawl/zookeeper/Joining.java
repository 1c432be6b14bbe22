package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import io.pawl.spi.Bell;
import io.pawl.spi.Claim;
import io.pawl.spi.Kind;
import io.pawl.spi.Mode;
import io.pawl.spi.Standing;
import io.pawl.zookeeper.Nodes.Place;
import io.pawl.zookeeper.Nodes.Queue;
import io.pawl.zookeeper.QueuedClaim.State;
import io.pawl.zookeeper.Requests.Created;
import io.pawl.zookeeper.Requests.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * How a claim takes its place in the queue: its node is made, or found where nobody knows whether
 * it was made, the queue before it is listed, and the first answer follows from both.
 */
final class Joining {

  private static final int MOST_TRIES = 5;

  /** What stands in the queue, and the node of the lock. */
  private record Listed(@Nullable Queue queue, @Nullable Node lock, int kindSigns) {}

  private final QueuedClaims all;
  private final QueuedClaim own;
  private final Claim claim;
  private final Session session;
  private final OwnNode node;
  private final Lookout lookout;
  private final Leaving leaving;

  /** Guarded by the claim's mutex. */
  private CompletableFuture<Standing> answer = new CompletableFuture<>();

  /** A node may have been asked for, so that it has to be looked for. Guarded by the same. */
  private boolean sent;

  Joining(QueuedClaims all, QueuedClaim own, Lookout lookout, Leaving leaving) {
    this.all = all;
    this.own = own;
    this.claim = own.claim();
    this.session = own.session();
    this.node = own.node();
    this.lookout = lookout;
    this.leaving = leaving;
  }

  /** The answer to the attempt that is under way. Under the mutex. */
  CompletableFuture<Standing> answer() {
    return answer;
  }

  private CompletableFuture<Standing> current() {
    own.mutex.lock();
    try {
      return answer;
    } finally {
      own.mutex.unlock();
    }
  }

  /** Takes its place in the queue, and says how it stands there. */
  CompletableFuture<Standing> begin() {
    CompletableFuture<Standing> first = current();
    CompletableFuture<Void> turn = all.endings().behind(claim.lock(), session, first);
    all.clock()
        .bounded(turn, all.settings().timeout().toNanos(), this::late)
        .whenComplete(
            (nothing, late) -> {
              if (late == null) {
                session.admit(() -> send(0), this::refused);
              } else {
                refused(all.failures().of(late));
              }
            });
    return first;
  }

  private StoreException late() {
    return StoreUnavailableException.unsent(
        all.settings().shown()
            + ": what was asked before it was not answered within "
            + all.settings().timeout().toMillis()
            + " ms",
        null);
  }

  /** Another attempt; null if the first is not under way, and its outcome is known. */
  @Nullable CompletableFuture<Standing> beginAgain(Bell bell) {
    CompletableFuture<Standing> again;
    own.mutex.lock();
    try {
      if (own.state != State.JOINING && own.state != State.UNKNOWN) {
        return null;
      }
      own.bell = bell;
      if (own.state == State.JOINING) {
        return answer;
      }
      own.state = State.JOINING;
      again = new CompletableFuture<>();
      answer = again;
    } finally {
      own.mutex.unlock();
    }
    session.admit(this::find, this::refused);
    return again;
  }

  // -------------------------------------------------------------- its node is made

  private void send(int tries) {
    boolean over;
    own.mutex.lock();
    try {
      over = own.ended;
      if (!over) {
        sent = true;
        node.isAt(null); // what was made before was not found
      }
    } finally {
      own.mutex.unlock();
    }
    if (over) {
      withdrawn();
      return;
    }
    CompletableFuture<?> lockMade = all.locks().make(session.ask(), claim.lock(), claim.mode());
    CompletableFuture<Created> made =
        node.make(claim.mode())
            .whenComplete(
                (created, error) -> {
                  if (created != null) {
                    own.placedAt(created.path(), created.stat());
                  }
                });
    if (node.isKept()) {
      made.thenCompose(created -> list(created.path()))
          .whenComplete((listed, error) -> joined(tries, lockMade, listed, error));
    } else {
      CompletableFuture<Listed> listing = list(null);
      made.thenCombine(listing, (created, listed) -> listed)
          .whenComplete((listed, error) -> joined(tries, lockMade, listed, error));
    }
  }

  /** It was withdrawn, and has no node. */
  private void withdrawn() {
    own.isOver();
    current().complete(Standing.GONE);
  }

  /** Lists the queue and reads the kind, behind whatever was asked before. */
  private CompletableFuture<Listed> list(@Nullable String kept) {
    CompletableFuture<Void> learned =
        kept == null
            ? CompletableFuture.completedFuture(null)
            : session.ask().exists(kept).thenAccept(stat -> learn(kept, stat));
    int kindSigns = lookout.kind().signs();
    CompletableFuture<@Nullable Queue> queue = session.ask().sharedQueue(own.lockPath());
    return learned.thenCombine(
        queue.thenCombine(
            lookout.kind().node(queue, all.locks().lastSeen(claim.lock())),
            (listed, read) -> new Listed(listed, read, kindSigns)),
        (nothing, listed) -> listed);
  }

  private void learn(String path, @Nullable Stat stat) {
    if (stat != null) {
      own.placedAt(path, stat);
    }
  }

  private void joined(
      int tries,
      CompletableFuture<?> lockMade,
      @Nullable Listed listed,
      @Nullable Throwable error) {
    if (listed != null) {
      decide(listed, false);
      return;
    }
    Throwable why = error;
    if (Failures.code(error) == Code.NONODE) {
      all.locks().isMissing(claim.lock());
      Code unmade = lockMade.isCompletedExceptionally() ? codeOf(lockMade) : null;
      boolean baseMissing = unmade == Code.NONODE;
      if (tries < MOST_TRIES && (unmade == null || unmade == Code.NODEEXISTS || baseMissing)) {
        CompletableFuture<?> made =
            baseMissing
                ? all.locks().makeBase(session.ask())
                : CompletableFuture.completedFuture(null);
        made.whenComplete((nothing, failed) -> session.admit(() -> send(tries + 1), this::refused));
        return;
      }
      if (unmade != null && unmade != Code.NODEEXISTS) {
        why = KeeperException.create(unmade, own.lockPath());
      }
    }
    fail(why, Failures.isUnknown(why));
  }

  private static @Nullable Code codeOf(CompletableFuture<?> failed) {
    return failed.handle((value, error) -> Failures.code(error)).join();
  }

  /** Nothing more is sent, now or under this session. */
  private void refused(StoreException error) {
    boolean unsent;
    own.mutex.lock();
    try {
      unsent = !sent && node.path() == null;
    } finally {
      own.mutex.unlock();
    }
    boolean doubtful = !unsent && error instanceof StoreUnavailableException;
    // of what was sent before nobody knows what became of it
    fail(doubtful ? all.failures().unknown(error) : error, !unsent);
  }

  /**
   * It does not join any more; one that is to go meanwhile goes on with that.
   *
   * @param doubtful whether its node may be there
   */
  private void fail(@Nullable Throwable error, boolean doubtful) {
    CompletableFuture<Standing> told;
    boolean over;
    own.mutex.lock();
    try {
      told = answer;
      over = own.state == State.JOINING && node.path() == null && !doubtful;
      if (own.state == State.JOINING) {
        own.state = over ? State.ENDED : State.UNKNOWN;
      }
    } finally {
      own.mutex.unlock();
    }
    forgetIf(over);
    told.completeExceptionally(all.failures().of(error));
  }

  private void forgetIf(boolean over) {
    if (over) {
      own.isOver();
    } else if (session.isEnded()) {
      leaving.sessionEnded();
    }
  }

  // -------------------------------------------------------------- its node is looked for

  /** Looks for a node of which nobody knows whether it was made. */
  private void find() {
    session
        .ask()
        .barrier()
        .thenCombine(list(null), (agreed, listed) -> listed)
        .whenComplete(
            (listed, error) -> {
              if (error != null) {
                fail(error, true);
              } else {
                found(listed);
              }
            });
  }

  private void found(Listed listed) {
    String path;
    own.mutex.lock();
    try {
      path = node.find(listed.queue());
    } finally {
      own.mutex.unlock();
    }
    if (path == null) {
      session.admit(() -> send(0), this::refused);
      return;
    }
    node.look(path)
        .whenComplete(
            (stat, error) -> {
              if (error != null) {
                fail(error, true);
              } else if (stat == null) {
                fail(KeeperException.create(Code.NONODE, path), true); // evicted meanwhile
              } else {
                own.placedAt(path, stat);
                decide(listed, true);
              }
            });
  }

  // -------------------------------------------------------------- its first answer

  /**
   * Its node is there, and so is the list of what stands before it.
   *
   * @param stood whether it has stood there before, maybe while the lock was of another kind
   */
  private void decide(Listed listed, boolean stood) {
    CompletableFuture<Standing> told = current();
    Kind kind;
    try {
      Node lock = listed.lock();
      kind =
          lock == null
              ? new Kind(claim.mode().capacity())
              : Stored.parseKind(own.lockPath(), lock.data());
    } catch (StoreException e) {
      leaving.end(Duration.ZERO).whenComplete((nothing, error) -> told.completeExceptionally(e));
      return;
    }
    if (listed.lock() != null) {
      all.locks().isThere(claim.lock(), listed.lock());
    }
    if (own.isSessionOver()) {
      fail(sessionIsOver(), true);
    } else if (!(kind.takes(claim.mode()) || stood && keepsItsPlace(kind, listed.lock()))) {
      leaveWith(told, new Standing.OtherKind(kind));
    } else if (!stand(kind, listed)) {
      if (own.isSessionOver()) {
        fail(sessionIsOver(), true);
      } else {
        leaveWith(told, Standing.GONE);
      }
    } else {
      lookout.evaluate().whenComplete((nothing, error) -> answerFirst(told, error));
    }
  }

  /** Whether a claim for permits keeps its place, since their number changed after it came. */
  private boolean keepsItsPlace(Kind kind, @Nullable Node lock) {
    long came;
    own.mutex.lock();
    try {
      came = node.zxid();
    } finally {
      own.mutex.unlock();
    }
    return lock != null
        && lock.stat().getMzxid() > came
        && claim.mode() instanceof Mode.Permits permits
        && permits.wanted() <= kind.capacity();
  }

  private KeeperException sessionIsOver() {
    return KeeperException.create(Code.SESSIONEXPIRED, own.lockPath());
  }

  private void leaveWith(CompletableFuture<Standing> told, Standing standing) {
    leaving
        .end(Duration.ZERO)
        .whenComplete(
            (nothing, error) -> {
              if (error == null) {
                told.complete(standing);
              } else {
                told.completeExceptionally(all.failures().of(error));
              }
            });
  }

  /** False if it has no place there, or is to go. */
  private boolean stand(Kind kind, Listed listed) {
    List<Place> older = new ArrayList<>();
    own.mutex.lock();
    try {
      Queue queue = listed.queue();
      int before = node.before(queue);
      if (queue == null
          || before < 0
          || own.state != State.JOINING
          || own.ended
          || own.sessionOver) {
        return false; // evicted meanwhile, or withdrawn
      }
      List<Place> places = queue.places();
      int number = places.get(before).number();
      if (number > Nodes.LAST_NUMBER) {
        own.failure = all.failures().usedUp(claim.lock(), own.lockPath());
        return true;
      }
      places = places.subList(0, before);
      boolean passedOn = before > 0 && follows(places.get(before - 1));
      lookout.begin(kind, places, number, listed.kindSigns(), passedOn);
      own.state = State.WAITING;
      places.stream().filter(each -> each.kept() && node.isOfClaim(each)).forEach(older::add);
    } finally {
      own.mutex.unlock();
    }
    older.forEach(lookout.remains()::removeOlder);
    return true;
  }

  /**
   * Whether the claim directly before it is one that can pass its hold on. One that does not queue
   * is about to leave. Under the mutex.
   */
  private boolean follows(Place last) {
    String path = node.path();
    boolean passes =
        claim.queues()
            && !node.isKept()
            && !last.kept()
            && isExclusive(last)
            && last.isOfClient(claim.id().client());
    if (path == null || !passes) {
      return false;
    }
    all.followers().add(claim.id(), path, own.lockPath() + "/" + last.name());
    return true;
  }

  private boolean isExclusive(Place last) {
    return claim.mode() instanceof Mode.Exclusive && last.mode() instanceof Mode.Exclusive;
  }

  private void answerFirst(CompletableFuture<Standing> told, @Nullable Throwable error) {
    if (error != null) {
      own.mutex.lock();
      try {
        if (own.state == State.WAITING) {
          own.state = State.UNKNOWN;
          lookout.leaveTurn();
        }
      } finally {
        own.mutex.unlock();
      }
      told.completeExceptionally(all.failures().of(error));
      return;
    }
    own.standing()
        .whenComplete(
            (standing, failed) -> {
              if (failed != null) {
                told.completeExceptionally(failed);
              } else if (standing instanceof Standing.Waiting && !claim.queues()) {
                leaveWith(told, Standing.GONE);
              } else {
                told.complete(standing);
              }
            });
  }
}
