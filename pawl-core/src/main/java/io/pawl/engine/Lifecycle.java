package io.pawl.engine;

import io.pawl.concurrent.Uninterruptibly;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of one client: open, then closing, when nothing new is let in and what is held comes to
 * an end, then abandoned, when what the store has not confirmed is left to run out. What is under
 * way is answered by then at the latest.
 */
public final class Lifecycle {

  static final Duration CLOSE_PATIENCE = Duration.ofSeconds(5);

  private static final Logger log = LoggerFactory.getLogger(Lifecycle.class);

  private final Engine engine;
  private final Set<OpenCall> openCalls = ConcurrentHashMap.newKeySet();
  private final Set<Retry<?>> retries = ConcurrentHashMap.newKeySet();
  private final ReentrantLock closing = new ReentrantLock();
  private final ReentrantLock shortening = new ReentrantLock();
  private volatile boolean closed;
  private volatile boolean abandoned;

  /** How many claims are held. */
  private final AtomicInteger held = new AtomicInteger();

  /** Once closed: completes when nothing is held. */
  private final CompletableFuture<Void> returned = new CompletableFuture<>();

  /** As {@link #returned}, where a hold has begun all the same. */
  private volatile CompletableFuture<Void> returnedAgain = new CompletableFuture<>();

  /** Until when holders are waited for, and what completes when that becomes sooner. */
  private volatile Grace grace = Grace.endless();

  private record Grace(long overAt, CompletableFuture<Void> shortened) {
    static Grace endless() {
      return new Grace(System.nanoTime() + Long.MAX_VALUE / 2, new CompletableFuture<>());
    }
  }

  /** Once closed: completes when the store knows of all that was given back. */
  private final CompletableFuture<Void> emptied = new CompletableFuture<>();

  Lifecycle(Engine engine) {
    this.engine = engine;
  }

  public static IllegalStateException closedException(String lock) {
    return new IllegalStateException("lock '" + lock + "': the Pawl client is closed");
  }

  /** Whether it has ended for good: nothing is repeated any more. */
  boolean isAbandoned() {
    return abandoned;
  }

  public boolean isClosed() {
    return closed;
  }

  void holdBegun() {
    held.incrementAndGet();
  }

  void holdEnded() {
    if (held.decrementAndGet() == 0 && closed) {
      noteWhatIsLeft();
    }
  }

  /** A claim has left the registry. */
  void claimEnded() {
    if (closed) {
      noteWhatIsLeft();
    }
  }

  private void noteWhatIsLeft() {
    if (held.get() == 0) {
      returned.complete(null);
      returnedAgain.complete(null);
    }
    if (!engine.registry().hasClaims()) {
      emptied.complete(null);
    }
  }

  /** A call to the store that is answered by the end of this client at the latest. */
  public interface OpenCall {

    /** For people. */
    String what();

    /**
     * The client is closing: what is under way may be answered, and is not repeated. The stage
     * completes when it has been.
     */
    CompletableFuture<Void> repeatNoMore();

    /** Nobody waits for an answer any more. */
    void giveUp();
  }

  public void begin(OpenCall call) {
    openCalls.add(call);
    if (closed) {
      openCalls.remove(call);
      call.giveUp(); // whoever closes may wait for its end
      throw new IllegalStateException(call.what() + ": the Pawl client is closed");
    }
  }

  public void ended(OpenCall call) {
    openCalls.remove(call);
  }

  /** {@code retry} is answered by the end of this client at the latest. */
  void begin(Retry<?> retry) {
    retries.add(retry);
    if (abandoned) {
      retry.giveUp();
    }
  }

  void ended(Retry<?> retry) {
    retries.remove(retry);
  }

  /** Nothing of a user's is on its way to the store, but for claims. */
  boolean isIdle() {
    return openCalls.isEmpty();
  }

  /**
   * Refuses new requests, turns waiters away, and asks holders to come to an end. The stage
   * completes when nothing is held any more.
   */
  public CompletableFuture<Void> beginClosing() {
    closed = true;
    engine.registry().queues().forEach(LocalQueue::close);
    openCalls.forEach(OpenCall::repeatNoMore);
    noteWhatIsLeft();
    return returned;
  }

  /**
   * What is still held is lost, and runs out at the store. The stage completes when the holders
   * know.
   */
  public CompletableFuture<Void> endHolds(String why) {
    return CompletableFuture.allOf(
        engine.registry().queues().stream()
            .map(queue -> queue.leaveToRunOut(why))
            .toArray(CompletableFuture[]::new));
  }

  /**
   * Once closed: completes when the store knows of all that was given back, and changes of counters
   * that were on their way have been answered.
   */
  public CompletableFuture<Void> answered() {
    List<CompletableFuture<Void>> ends = new ArrayList<>(List.of(emptied));
    openCalls.forEach(call -> ends.add(call.repeatNoMore()));
    return CompletableFuture.allOf(ends.toArray(CompletableFuture[]::new));
  }

  /** The end of closing: what was not given back by now runs out. */
  public void abandon() {
    abandoned = true;
    engine.renewer().close();
    openCalls.forEach(OpenCall::giveUp);
    retries.forEach(Retry::giveUp);
    engine.registry().forEachClaim(LiveClaim::abandon);
  }

  /** As {@link #endClosing(long, CompletableFuture)}, with nobody else to wait for. */
  public void endClosing(long graceNanos) {
    endClosing(graceNanos, CompletableFuture.completedFuture(null));
  }

  /**
   * Ends all that {@link #beginClosing} has left: waits for {@code leaders} and for holders, for
   * {@code graceNanos} together, and then for the store, for at most 5 s. Idempotent; of several
   * calls the shortest grace counts.
   */
  public void endClosing(long graceNanos, CompletableFuture<Void> leaders) {
    shortenGrace(System.nanoTime() + graceNanos);
    closing.lock(); // a second call waits for the first
    try {
      if (abandoned) {
        return;
      }
      engine
          .registry()
          .queues()
          .forEach(LocalQueue::close); // one may have changed its key under the first pass
      awaitWithinGrace(leaders);
      if (!awaitReturned()) {
        log.warn(
            "{} locks are held still at the end of the grace; they are left to run out. Close each"
                + " Lease, or lengthen PawlOptions.shutdownGrace",
            held.get());
      }
      String why = "the Pawl client was closed, and its grace is over";
      Uninterruptibly.await(endHolds(why), Event.LONGEST_WAIT_NANOS);
      if (!Uninterruptibly.await(answered(), CLOSE_PATIENCE.toNanos())) {
        log.warn("some claims were not given back within {} and will run out", CLOSE_PATIENCE);
      }
      abandon();
    } finally {
      closing.unlock();
    }
  }

  private void shortenGrace(long overAt) {
    Grace known;
    shortening.lock();
    try {
      known = grace;
      if (overAt - known.overAt >= 0) {
        return;
      }
      grace = new Grace(overAt, new CompletableFuture<>());
    } finally {
      shortening.unlock();
    }
    known.shortened.complete(null);
  }

  /** Whether nothing is held any more; false once the grace is over. */
  private boolean awaitReturned() {
    CompletableFuture<Void> free = new CompletableFuture<>();
    returnedAgain = free;
    noteWhatIsLeft();
    return awaitWithinGrace(free);
  }

  /** Whether {@code end} came before the grace was over, which other calls may shorten. */
  private boolean awaitWithinGrace(CompletableFuture<Void> end) {
    while (!end.isDone()) {
      Grace until = grace;
      long left = until.overAt - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      Uninterruptibly.await(CompletableFuture.anyOf(end, until.shortened), left);
    }
    return true;
  }
}
