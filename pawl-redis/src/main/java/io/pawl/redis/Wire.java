package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection for commands, and the promise that each is answered in bounded time.
 *
 * <p>Lettuce reconnects by itself where the peer says that it is gone. Where it says nothing (a
 * frozen server, a network that swallows packets) a command that stays unanswered makes this class
 * dial anew, which with Sentinels also asks anew who the primary is, and move over once that
 * succeeded. So does a peer that says that it is no primary any more. Commands on their way when a
 * connection ends fail at once; none is sent twice.
 *
 * <p>Deadlines need no timer each: commands have the same time, so those that wait stand in the
 * order of their deadlines in one queue, which is swept while it is not empty.
 */
final class Wire implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Wire.class);

  private static final long PAUSE_NANOS = 1_000_000_000;
  private static final long LEAST_RETRY_NANOS = 100_000_000;
  private static final long MOST_RETRY_NANOS = 5_000_000_000L;

  private final Servers servers;
  private final Failures failures;
  private final long timeoutNanos;
  private final Queue<Call> inFlight = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean sweeping = new AtomicBoolean();
  private final ReentrantLock moving = new ReentrantLock();
  private final AtomicLong demotedAt = new AtomicLong(System.nanoTime() - PAUSE_NANOS);
  private final RedisConnectionStateListener onDisconnect =
      new RedisConnectionStateListener() {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
          disconnected(handler);
        }
      };

  private volatile StatefulConnection<String, String> connection;
  private volatile @Nullable StatefulConnection<String, String> replaced;

  /** Null where nobody dials. */
  private volatile @Nullable Dial dialing;

  private volatile CompletionStage<?> dialled = CompletableFuture.completedFuture(null);
  private volatile boolean closed;

  /**
   * @param first already connected
   */
  Wire(
      Servers servers,
      Failures failures,
      long timeoutNanos,
      StatefulConnection<String, String> first) {
    this.servers = servers;
    this.failures = failures;
    this.timeoutNanos = timeoutNanos;
    this.connection = first;
    first.addListener(onDisconnect);
  }

  StatefulConnection<String, String> connection() {
    return connection;
  }

  /** Sends a command; to the node of its first key where there are several. Never throws. */
  Call send(CommandType type, CommandArgs<String, String> args) {
    return send(type, args, connection);
  }

  /** As {@link #send}, on a connection that is one of {@link #connection}'s. */
  Call send(
      CommandType type,
      CommandArgs<String, String> args,
      StatefulConnection<String, String> through) {
    Call call = new Call(type, args, through, System.nanoTime() + timeoutNanos);
    if (closed) {
      call.completeExceptionally(failures.unavailable("is closed", null));
      return call;
    }
    inFlight.add(call);
    try {
      through.dispatch(call);
    } catch (RuntimeException | Error e) {
      call.completeExceptionally(failures.of(e));
    }
    if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
      sweepSoon();
    }
    return call;
  }

  /** The connection for what depends on a connection's own history. */
  CompletableFuture<StatefulRedisConnection<String, String>> nodeOf(String key) {
    return Failures.caught(() -> inTime(servers.nodeOf(connection, key).toCompletableFuture()));
  }

  private <T> CompletableFuture<T> inTime(CompletableFuture<T> asked) {
    if (asked.isDone()) {
      return asked;
    }
    CompletableFuture<T> answer = asked.copy();
    after(
        timeoutNanos,
        () -> answer.completeExceptionally(failures.noAnswer(timeoutNanos / 1_000_000)));
    return answer;
  }

  /** Runs {@code task} after {@code nanos} on a thread that may not block. */
  void after(long nanos, Runnable task) {
    if (!closed) {
      connection
          .getResources()
          .timer()
          .newTimeout(timeout -> task.run(), nanos, TimeUnit.NANOSECONDS);
    }
  }

  /** Runs {@code task} on a thread that neither reads answers nor counts time. */
  void aside(Runnable task) {
    connection.getResources().eventExecutorGroup().execute(task);
  }

  /** Where no sweep can follow, nobody waits for an answer that may not come. */
  private void sweepSoon() {
    long period = Math.min(100_000_000, Math.max(10_000_000, timeoutNanos / 8));
    try {
      after(period, this::sweep);
    } catch (RuntimeException | Error e) { // the timer is stopped, or cannot start its thread
      sweeping.set(false);
      inFlight.forEach(call -> call.completeExceptionally(failures.of(e)));
    }
  }

  /** Whatever becomes of one sweep, another follows while commands are on their way. */
  private void sweep() {
    try {
      failThoseOverdue();
    } catch (RuntimeException | Error e) {
      log.error("{}: a sweep of commands failed; the next one follows", servers.describe(), e);
    }
    if (inFlight.isEmpty()) {
      sweeping.set(false);
      if (inFlight.isEmpty() || !sweeping.compareAndSet(false, true)) {
        return;
      }
    }
    sweepSoon();
  }

  private void failThoseOverdue() {
    long now = System.nanoTime();
    boolean silent = false;
    Call first = inFlight.peek();
    while (first != null && (first.isDone() || first.isOverdue(now))) {
      inFlight.remove(first);
      silent |=
          first.timedOut()
              || first.completeExceptionally(failures.noAnswer(timeoutNanos / 1_000_000));
      first = inFlight.peek();
    }
    if (silent) {
      dialAnew("was silent for too long");
    }
  }

  private void disconnected(RedisChannelHandler<?, ?> handler) {
    for (Call call : inFlight) {
      if ((Object) handler == call.on()) {
        call.completeExceptionally(
            failures.unavailable("closed the connection; the outcome is unknown", null));
      }
    }
  }

  /**
   * The server has said that it is no primary any more. A name or an address in front of it may
   * lead to another one by now: dials anew, at most once a second.
   */
  void demoted() {
    long before = demotedAt.get();
    long now = System.nanoTime();
    if (now - before >= PAUSE_NANOS && demotedAt.compareAndSet(before, now)) {
      dialAnew("is no primary any more");
    }
  }

  /**
   * Another server is the primary, whatever this one says: dials anew until that succeeds, and then
   * hears nothing more of this one. A dial that is under way may yet lead to the old one.
   */
  void switched() {
    begin(new Dial("is no primary any more, as its Sentinels say", true));
  }

  private void dialAnew(String why) {
    begin(new Dial(why, false));
  }

  /**
   * Who dials at the moment, and moves over.
   *
   * @param leaves whether what the old server says from now on is not to be heard
   */
  private record Dial(String why, boolean leaves) {}

  private void begin(Dial dial) {
    moving.lock();
    try {
      if (closed || (dialing != null && !dial.leaves)) {
        return;
      }
      dialing = dial;
    } finally {
      moving.unlock();
    }
    dial(dial, LEAST_RETRY_NANOS);
  }

  private void dial(Dial dial, long pauseNanos) {
    if (closed || dialing != dial) {
      return;
    }
    try {
      dialled =
          servers
              .dial()
              .whenComplete(
                  (fresh, error) -> {
                    if (fresh != null) {
                      moveTo(fresh, dial);
                    } else {
                      notDialled(dial, pauseNanos, error);
                    }
                  });
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      notDialled(dial, pauseNanos, e);
    }
  }

  private void notDialled(Dial dial, long pauseNanos, Throwable error) {
    log.debug("{} does not answer a new connection either", servers.describe(), error);
    if (dial.leaves) {
      after(pauseNanos, () -> dial(dial, Math.min(2 * pauseNanos, MOST_RETRY_NANOS)));
    } else {
      end(dial);
    }
  }

  private boolean end(Dial dial) {
    moving.lock();
    try {
      boolean isLatest = dialing == dial;
      if (isLatest) {
        dialing = null;
      }
      return isLatest;
    } finally {
      moving.unlock();
    }
  }

  private void moveTo(StatefulConnection<String, String> fresh, Dial dial) {
    StatefulConnection<String, String> old;
    moving.lock();
    try {
      if (!end(dial)) {
        fresh.closeAsync();
        return;
      }
      old = connection;
      fresh.addListener(onDisconnect);
      replaced = old;
      connection = fresh;
    } finally {
      moving.unlock();
    }
    log.debug("{} {}; using a new connection", servers.describe(), dial.why);
    if (dial.leaves) {
      old.closeAsync();
    } else {
      after(timeoutNanos, old::closeAsync); // until then others may still be answered there
    }
    if (closed) { // nobody may be waiting to close them any more
      old.closeAsync();
      fresh.closeAsync();
    }
  }

  @Override
  public void close() {
    closed = true;
    Shutdown.await(dialled);
    Shutdown.of(connection);
    StatefulConnection<String, String> before = replaced;
    if (before != null) {
      Shutdown.of(before);
    }
    for (Call call : inFlight) {
      call.completeExceptionally(failures.unavailable("was closed by this program", null));
    }
  }
}
