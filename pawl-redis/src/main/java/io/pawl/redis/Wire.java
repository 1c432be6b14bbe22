package io.pawl.redis;

import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.pawl.concurrent.Futures;
import io.pawl.redis.Servers.Place;
import io.pawl.redis.Servers.Primary;
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
 * <p>Lettuce reconnects by itself where the peer says that it is gone. Where that takes longer than
 * an answer may, a command that finds no connection makes this class dial anew. So does one that
 * stays unanswered, where the peer says nothing (a frozen server, a network that swallows packets),
 * and a peer that says that it is no primary any more. To dial with Sentinels also asks anew who
 * the primary is; a dial that succeeds is moved over to. Commands on their way when a connection
 * ends fail at once, and this class sends none twice: what Lettuce repeats, {@link Call} counts.
 *
 * <p>A server that is not the one which the Sentinels name is left. They are asked anew at each
 * dial, and the one that answers may lag behind: so what is dialled is taken only if it says that
 * it is a primary, and if it is the server that was left, further dials follow, over some seconds.
 * A name that nothing leads to, as where addresses are translated, costs one change at most.
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

  /** Since when {@link #connection} may be away, or when it was last dialled anew for that. */
  private final AtomicLong awaySince = new AtomicLong(System.nanoTime());

  private final RedisConnectionStateListener onDisconnect =
      new RedisConnectionStateListener() {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> handler) {
          disconnected(handler);
        }
      };

  private volatile StatefulConnection<String, String> connection;

  /** Of {@link #connection}. */
  private volatile Place place;

  /** As Sentinels said last. */
  private volatile @Nullable Primary primary;

  /** Which one was dialled without coming to its address. */
  private volatile @Nullable Primary notFound;

  /** Whether {@link #connection} has given cause for a dial while another one was under way. */
  private volatile boolean doubtful;

  /** Those before it that are not closed yet. */
  private final Queue<StatefulConnection<String, String>> replaced = new ConcurrentLinkedQueue<>();

  /** Opened by a dial, and asked whether it leads to a primary: its silence is not ours. */
  private volatile @Nullable StatefulConnection<String, String> examined;

  /** Null where nobody dials. */
  private volatile @Nullable Dial dialing;

  /** Of the last dial, null once there is a connection. */
  private volatile @Nullable Throwable dialFailure;

  private volatile CompletableFuture<Void> dialled = CompletableFuture.completedFuture(null);
  private volatile boolean closed;

  /**
   * @param first already connected
   * @param firstDialled whence it comes
   */
  Wire(
      Servers servers,
      Failures failures,
      long timeoutNanos,
      StatefulConnection<String, String> first,
      CompletionStage<?> firstDialled) {
    this.servers = servers;
    this.failures = failures;
    this.timeoutNanos = timeoutNanos;
    this.connection = first;
    this.place = new Place(firstDialled, this::reopened);
    first.addListener(onDisconnect);
    first.addListener(place);
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
    Call call = new Call(type, args, through, System.nanoTime() + timeoutNanos, failures);
    if (closed) {
      call.completeExceptionally(failures.closed());
      return call;
    }
    boolean isOneServers = through instanceof StatefulRedisConnection;
    if (isOneServers && !through.isOpen()) {
      call.completeExceptionally(failures.notConnected(dialFailure));
      notConnected(through);
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
    return Futures.caught(() -> inTime(servers.nodeOf(connection, key).toCompletableFuture()));
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

  /**
   * Runs {@code task} on a thread that neither reads answers nor counts time. To dial is one: a
   * client that is not ours may look for a host on the thread that dials.
   */
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
      boolean unanswered =
          first.timedOut()
              || first.completeExceptionally(failures.noAnswer(timeoutNanos / 1_000_000));
      silent |= unanswered && isOurs(first.on());
      first = inFlight.peek();
    }
    if (silent) {
      dialAnew("was silent for too long");
    }
  }

  /** Whether its silence is: what one that was replaced still owes is no reason to dial again. */
  private boolean isOurs(StatefulConnection<String, String> on) {
    return (Object) on != examined && !replaced.contains(on);
  }

  /** Lettuce opens it again, but a client that is not ours may pause for long before it does. */
  private void notConnected(StatefulConnection<String, String> through) {
    long before = awaySince.get();
    long now = System.nanoTime();
    if (through == connection
        && now - before >= timeoutNanos
        && awaySince.compareAndSet(before, now)) {
      dialAnew("was away for too long");
    }
  }

  private void disconnected(RedisChannelHandler<?, ?> handler) {
    if ((Object) handler == connection) {
      awaySince.set(System.nanoTime());
    }
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

  /** Which server is the primary, as its Sentinels say, whatever that one says to which we talk. */
  void named(Primary named) {
    primary = named;
    leaveIfElsewhere();
  }

  private void reopened(Place again) {
    if (again == place) {
      notFound = null;
      dialFailure = null;
      leaveIfElsewhere();
    }
  }

  private void leaveIfElsewhere() {
    Primary named = primary;
    if (named != null && !named.equals(notFound)) {
      begin(new Dial("is not the primary that its Sentinels name", named));
    }
  }

  private void dialAnew(String why) {
    begin(new Dial(why, null));
  }

  /**
   * Who dials at the moment, and moves over.
   *
   * @param to for whom the old server is left, unheard, however often it has to be dialled; null
   *     for another connection to whichever server is found
   */
  private record Dial(String why, @Nullable Primary to) {

    boolean leaves() {
      return to != null;
    }
  }

  private void begin(Dial dial) {
    moving.lock();
    try {
      Dial other = dialing;
      boolean isThere = dial.to != null && place.isAt(dial.to.address());
      if (isThere && other != null && other.leaves()) {
        dialing = null;
      }
      if (other != null && !dial.leaves()) {
        doubtful = true;
        return;
      }
      if (closed || isThere) {
        return;
      }
      dialing = dial;
    } finally {
      moving.unlock();
    }
    dial(dial, LEAST_RETRY_NANOS);
  }

  private void dial(Dial dial, long pauseNanos) {
    if (dialing != dial) {
      return;
    }
    CompletableFuture<Object> begun = new CompletableFuture<>();
    moving.lock();
    try {
      dialled = CompletableFuture.allOf(dialled, begun);
    } finally {
      moving.unlock();
    }
    if (closed) { // asked after that: whoever closes waits for this dial
      begun.complete(null);
      return;
    }
    try {
      aside(() -> dial(dial, pauseNanos, begun));
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      begun.complete(null);
      notDialled(dial, pauseNanos, e);
    }
  }

  private void dial(Dial dial, long pauseNanos, CompletableFuture<Object> begun) {
    try {
      CompletionStage<? extends StatefulConnection<String, String>> opening = servers.dial();
      opening
          .thenCompose(fresh -> opened(fresh, new Place(opening, this::reopened), dial, pauseNanos))
          .whenComplete(
              (nothing, error) -> {
                if (error != null) {
                  notDialled(dial, pauseNanos, error);
                }
                begun.complete(null);
              });
    } catch (RuntimeException | Error e) { // of threads, where none can be started
      begun.complete(null);
      notDialled(dial, pauseNanos, e);
    }
  }

  private CompletionStage<Object> opened(
      StatefulConnection<String, String> fresh, Place there, Dial dial, long pauseNanos) {
    fresh.addListener(onDisconnect);
    fresh.addListener(there);
    Primary to = dial.to;
    if (to == null) {
      return moveTo(fresh, there, dial) ? CompletableFuture.completedFuture(fresh) : closed(fresh);
    }
    examined = fresh;
    return send(CommandType.HELLO, new CommandArgs<>(StringCodec.UTF8), fresh)
        .handle(
            (hello, error) -> {
              CompletionStage<Object> kept = CompletableFuture.completedFuture(fresh);
              boolean isPrimary = hello != null && !Handshake.isReplica(hello);
              boolean isOld = there.isSameAs(place) && !there.isAt(to.address()) && !doubtful;
              if (isPrimary && !isOld) {
                return moveTo(fresh, there, dial) ? kept : closed(fresh);
              }
              if (isPrimary && pauseNanos == MOST_RETRY_NANOS) {
                notFound = to;
                end(dial);
              } else {
                notDialled(dial, pauseNanos, error);
              }
              return closed(fresh);
            })
        .thenCompose(end -> end);
  }

  private CompletionStage<Object> closed(StatefulConnection<String, String> useless) {
    return useless
        .closeAsync()
        .handle(
            (nothing, error) -> {
              if (error != null) {
                log.debug("{}: closing a connection failed", servers.describe(), error);
              }
              return useless;
            });
  }

  private void notDialled(Dial dial, long pauseNanos, @Nullable Throwable error) {
    log.debug("{}: a new connection is of no use either", servers.describe(), error);
    dialFailure = error;
    if (!dial.leaves()) {
      end(dial);
      return;
    }
    try {
      after(pauseNanos, () -> dial(dial, Math.min(2 * pauseNanos, MOST_RETRY_NANOS)));
    } catch (RuntimeException | Error e) { // of the timer: whoever comes next begins anew
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

  /** False where another dial has begun meanwhile: then {@code fresh} is of no use. */
  private boolean moveTo(StatefulConnection<String, String> fresh, Place there, Dial dial) {
    StatefulConnection<String, String> old;
    moving.lock();
    try {
      if (!end(dial)) {
        return false;
      }
      old = connection;
      replaced.add(old);
      connection = fresh;
      if (dial.to != null && !there.isAt(dial.to.address()) && !there.isSameAs(place)) {
        notFound = dial.to;
      }
      place = there;
      dialFailure = null;
      doubtful = false;
      examined = null; // from now on its silence is ours
    } finally {
      moving.unlock();
    }
    log.debug("{} {}; using a new connection", servers.describe(), dial.why);
    if (dial.leaves()) {
      leave(old);
    } else {
      after(timeoutNanos, () -> leave(old)); // until then others may still be answered there
    }
    if (closed) { // nobody may be waiting to close them any more
      old.closeAsync();
      fresh.closeAsync();
    }
    leaveIfElsewhere();
    return true;
  }

  private void leave(StatefulConnection<String, String> old) {
    old.closeAsync().whenComplete((nothing, error) -> replaced.remove(old));
  }

  @Override
  public void close() {
    closed = true;
    Shutdown.await(dialled);
    Shutdown.of(connection);
    replaced.forEach(Shutdown::of);
    for (Call call : inFlight) {
      call.completeExceptionally(failures.unavailable("was closed by this program", null));
    }
  }
}
