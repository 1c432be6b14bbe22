package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session of ZooKeeper, from its first connection to its end, and the requests made under it.
 * It is used for one length of lease; the package's description says why its time-out is as long as
 * it is. A session that has ended is never used again.
 *
 * <p>Requests are asynchronous; their stages complete on ZooKeeper's event thread, in the order in
 * which the requests were made, with a {@link KeeperException} where the service refuses. They do
 * complete: at the latest when the connection is lost. Thread-safe.
 */
final class Session {

  /** A node's data and what the service says of it. */
  record Node(byte[] data, Stat stat) {}

  /** What was created. */
  record Created(String path, @Nullable Stat stat) {}

  /** What waits for the session to be open, and what becomes of it if it does not open. */
  private record Waiting(Runnable send, Consumer<StoreException> refuse) {}

  /** A request that the server has answered. */
  private record Touch(long sentAt, long answeredAt) {}

  private enum State {
    OPENING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  /** Requests under way and not yet sent; more are refused. */
  private static final int MOST_REQUESTS = 50_000;

  private final Settings settings;
  private final Clock clock;
  private final int timeoutMillis;
  private final long tickNanos;
  private final Consumer<Session> ended;

  /** One object, so that ZooKeeper's client keeps one entry for each node that is watched. */
  private final Watcher watcher = this::event;

  private final AtomicInteger underWay = new AtomicInteger();
  private final Link link;

  private final ReentrantLock mutex = new ReentrantLock();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final ArrayDeque<Touch> touches = new ArrayDeque<>();

  /** Taken last: claims watch while they hold their own. */
  private final ReentrantLock watching = new ReentrantLock();

  private final Map<String, Set<Runnable>> watchers = new HashMap<>();
  private State state = State.OPENING;
  private boolean warming;
  private boolean moving;
  private long lastAnswer;
  private @Nullable StoreException refusal;
  private final Future<?> pulse;
  private final @Nullable Negotiation negotiation;

  /** Says what is wrong with the time-out that the service grants, if anything is. */
  interface Negotiation {
    @Nullable StoreException refuses(int grantedMillis);
  }

  Session(
      Settings settings,
      Clock clock,
      int timeoutMillis,
      long tickNanos,
      @Nullable Negotiation negotiation,
      Consumer<Session> ended) {
    this.settings = settings;
    this.clock = clock;
    this.timeoutMillis = timeoutMillis;
    this.tickNanos = tickNanos;
    this.negotiation = negotiation;
    this.ended = ended;
    long now = System.nanoTime();
    this.lastAnswer = now;
    // the leader itself notes a session that is made, so nothing is left to be passed on to it
    touches.add(new Touch(now, now - relayNanos()));
    mutex.lock(); // events wait until the fields are set
    try {
      this.link = new Link(settings, timeoutMillis, watcher);
      this.pulse = clock.every(Math.max(1_000_000, tickNanos / 2), this::pulse);
    } catch (IOException e) {
      throw new StoreUnavailableException(settings.shown() + ": cannot connect: " + e, e);
    } catch (IllegalArgumentException e) {
      throw new StoreConfigurationException(settings.shown() + ": cannot connect", e);
    } finally {
      mutex.unlock();
    }
  }

  /** How much longer than a lease its session has to be. */
  static long spareNanos(long tickNanos) {
    return tickNanos / 4 * 7;
  }

  /** Within this time a follower passes on to the leader what it heard from whom. */
  private long relayNanos() {
    return tickNanos / 4 * 3;
  }

  int timeoutMillis() {
    return timeoutMillis;
  }

  /** The time-out that the service has granted. */
  int grantedMillis() {
    return link.getSessionTimeout();
  }

  long id() {
    return link.getSessionId();
  }

  boolean isEnded() {
    mutex.lock();
    try {
      return state == State.ENDED;
    } finally {
      mutex.unlock();
    }
  }

  private void event(WatchedEvent event) {
    awaitConstruction();
    if (event.getType() != EventType.None) {
      changed(event.getPath());
      return;
    }
    switch (event.getState()) {
      case SyncConnected -> connected();
      case Disconnected -> suspended();
      case Expired, Closed -> end(null);
      case AuthFailed ->
          end(new StoreDeniedException(settings.shown() + ": the credentials were refused"));
      default -> {}
    }
  }

  private void awaitConstruction() {
    mutex.lock();
    mutex.unlock();
  }

  private void changed(@Nullable String path) {
    Set<Runnable> told;
    watching.lock();
    try {
      told = watchers.remove(path);
    } finally {
      watching.unlock();
    }
    if (told != null) {
      told.forEach(Runnable::run);
    }
  }

  private void connected() {
    StoreException refused = negotiation == null ? null : negotiation.refuses(grantedMillis());
    if (refused != null) {
      end(refused);
      close();
      return;
    }
    mutex.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      state = State.OPEN;
      moving = false;
      lastAnswer = System.nanoTime();
    } finally {
      mutex.unlock();
    }
    drain();
  }

  private void suspended() {
    mutex.lock();
    try {
      if (state == State.OPEN) {
        state = State.SUSPENDED;
      }
    } finally {
      mutex.unlock();
    }
  }

  private void end(@Nullable StoreException why) {
    List<Waiting> refused;
    mutex.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      state = State.ENDED;
      refusal = why;
      refused = new ArrayList<>(waiting);
      waiting.clear();
    } finally {
      mutex.unlock();
    }
    pulse.cancel(false);
    StoreException failure = ending();
    refused.forEach(each -> each.refuse().accept(failure));
    ended.accept(this);
  }

  /** Why nothing can be sent any more. */
  private StoreException ending() {
    StoreException why = refusal;
    return why == null
        ? StoreUnavailableException.unsent(settings.shown() + ": the session has ended", null)
        : why;
  }

  /** Null unless the session was refused for good. */
  @Nullable StoreException refusal() {
    mutex.lock();
    try {
      return refusal;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Runs {@code send} as soon as a request that is sent then keeps the session for long enough: at
   * once as a rule, and in the order of the calls.
   */
  void admit(Runnable send, Consumer<StoreException> refuse) {
    StoreException failure = null;
    mutex.lock();
    try {
      if (state == State.ENDED) {
        failure = ending();
      } else if (waiting.size() >= MOST_REQUESTS) {
        failure =
            StoreUnavailableException.unsent(
                settings.shown() + ": " + MOST_REQUESTS + " requests wait for a connection", null);
      } else {
        waiting.add(new Waiting(send, refuse));
      }
    } finally {
      mutex.unlock();
    }
    if (failure != null) {
      refuse.accept(failure);
    } else {
      drain();
    }
  }

  /** Sends while the mutex is held: ZooKeeper's client only queues, and the order must stand. */
  private void drain() {
    boolean warm = true;
    mutex.lock();
    try {
      while (state == State.OPEN && warm && !waiting.isEmpty()) {
        warm = isWarm(System.nanoTime());
        if (warm) {
          waiting.remove().send().run();
        }
      }
      warm = warm || warming;
      warming = warming || !warm;
    } finally {
      mutex.unlock();
    }
    if (!warm) {
      touch().whenComplete((nothing, error) -> clock.after(relayNanos(), this::warmed));
    }
  }

  private void warmed() {
    mutex.lock();
    try {
      warming = false;
    } finally {
      mutex.unlock();
    }
    drain();
  }

  /**
   * Whether the leader has heard of the session so lately that it keeps the session for a lease
   * from now on, though the server that we are connected to should fail at once.
   */
  private boolean isWarm(long now) {
    for (Touch touch : touches) {
      if (now - touch.sentAt <= spareNanos(tickNanos) && now - touch.answeredAt >= relayNanos()) {
        return true;
      }
    }
    return false;
  }

  /** Keeps the session warm, and leaves a server that has fallen silent. */
  private void pulse() {
    boolean open;
    boolean silent;
    mutex.lock();
    try {
      open = state == State.OPEN;
      long patience = Math.max(3 * tickNanos, timeoutMillis * 1_000_000L / 4);
      silent = open && !moving && System.nanoTime() - lastAnswer > patience;
      moving = moving || silent;
    } finally {
      mutex.unlock();
    }
    if (silent) {
      log.info("{}: the server is silent; going to another one", settings);
      try {
        link.moveOn();
      } catch (IOException | RuntimeException e) {
        log.debug("the connection was broken already", e);
      }
    }
    if (open) {
      touch();
    }
  }

  private CompletableFuture<Void> touch() {
    long sentAt = System.nanoTime();
    CompletableFuture<Void> answered = new CompletableFuture<>();
    link.exists(
        settings.base(),
        false,
        (code, path, context, stat) -> {
          if (code != Code.CONNECTIONLOSS.intValue() && code != Code.SESSIONEXPIRED.intValue()) {
            touched(sentAt);
          }
          answered.complete(null);
        },
        null);
    return answered;
  }

  private void touched(long sentAt) {
    mutex.lock();
    try {
      long now = System.nanoTime();
      lastAnswer = now;
      touches.add(new Touch(sentAt, now));
      while (touches.size() > 1 && now - touches.getFirst().sentAt > spareNanos(tickNanos)) {
        touches.removeFirst();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Begins a request; the stage fails at once where there are too many. */
  private <T> CompletableFuture<T> begun() {
    CompletableFuture<T> answer = new CompletableFuture<>();
    if (underWay.incrementAndGet() > MOST_REQUESTS) {
      answer.completeExceptionally(
          StoreUnavailableException.unsent(
              settings.shown() + ": " + MOST_REQUESTS + " requests are under way", null));
    }
    answer.whenComplete((value, error) -> underWay.decrementAndGet());
    return answer;
  }

  private static <T> void answer(
      CompletableFuture<T> answer, int code, @Nullable String path, T value) {
    if (code == Code.OK.intValue()) {
      answer.complete(value);
    } else {
      answer.completeExceptionally(KeeperException.create(Code.get(code), path));
    }
  }

  CompletableFuture<Created> create(String path, byte[] data, CreateMode mode) {
    CompletableFuture<Created> answer = begun();
    if (!answer.isDone()) {
      link.create(
          path,
          data,
          settings.acl(),
          mode,
          (code, asked, context, name, stat) ->
              answer(answer, code, path, new Created(name == null ? path : name, stat)),
          null);
    }
    return answer;
  }

  /** Null where there is no such node. */
  CompletableFuture<@Nullable Stat> exists(String path) {
    CompletableFuture<@Nullable Stat> answer = begun();
    if (!answer.isDone()) {
      link.exists(
          path,
          false,
          (code, asked, context, stat) -> {
            if (code == Code.NONODE.intValue()) {
              answer.complete(null);
            } else {
              answer(answer, code, path, stat);
            }
          },
          null);
    }
    return answer;
  }

  /** Null where there is no such node, which is not watched then. */
  CompletableFuture<@Nullable Node> read(String path, @Nullable Runnable onChange) {
    CompletableFuture<@Nullable Node> answer = begun();
    if (!answer.isDone()) {
      watch(path, onChange);
      link.getData(
          path,
          onChange == null ? null : watcher,
          (code, asked, context, data, stat) -> {
            if (code == Code.OK.intValue()) {
              answer.complete(new Node(data == null ? new byte[0] : data, stat));
              return;
            }
            if (onChange != null) {
              unwatch(path, onChange);
            }
            if (code == Code.NONODE.intValue()) {
              answer.complete(null);
            } else {
              answer.completeExceptionally(KeeperException.create(Code.get(code), path));
            }
          },
          null);
    }
    return answer;
  }

  private void watch(String path, @Nullable Runnable onChange) {
    if (onChange != null) {
      watching.lock();
      try {
        watchers.computeIfAbsent(path, name -> new LinkedHashSet<>()).add(onChange);
      } finally {
        watching.unlock();
      }
    }
  }

  /** Nobody is to be told any more. The server's own note of it goes with the node. */
  void unwatch(String path, Runnable onChange) {
    watching.lock();
    try {
      Set<Runnable> told = watchers.get(path);
      if (told != null && told.remove(onChange) && told.isEmpty()) {
        watchers.remove(path);
      }
    } finally {
      watching.unlock();
    }
  }

  /** The names of the children; null where there is no such node. */
  CompletableFuture<@Nullable List<String>> children(String path) {
    CompletableFuture<@Nullable List<String>> answer = begun();
    if (!answer.isDone()) {
      link.getChildren(
          path,
          false,
          (int code, String asked, Object context, List<String> names) -> {
            if (code == Code.NONODE.intValue()) {
              answer.complete(null);
            } else {
              answer(answer, code, path, names);
            }
          },
          null);
    }
    return answer;
  }

  /** Whether there was such a node. */
  CompletableFuture<Boolean> delete(String path, int version) {
    CompletableFuture<Boolean> answer = begun();
    if (!answer.isDone()) {
      link.delete(
          path,
          version,
          (code, asked, context) -> {
            if (code == Code.NONODE.intValue()) {
              answer.complete(false);
            } else {
              answer(answer, code, path, true);
            }
          },
          null);
    }
    return answer;
  }

  CompletableFuture<Stat> write(String path, byte[] data) {
    CompletableFuture<Stat> answer = begun();
    if (!answer.isDone()) {
      link.setData(
          path, data, -1, (code, asked, context, stat) -> answer(answer, code, path, stat), null);
    }
    return answer;
  }

  /** All or nothing; the results of all also where it fails, {@link OpResult.ErrorResult}s then. */
  CompletableFuture<List<OpResult>> multi(List<Op> ops) {
    CompletableFuture<List<OpResult>> answer = begun();
    if (!answer.isDone()) {
      link.multi(
          ops,
          (code, path, context, results) -> {
            if (results != null) {
              answer.complete(results);
            } else {
              answer(answer, code, ops.get(0).getPath(), List.of());
            }
          },
          null);
    }
    return answer;
  }

  /**
   * Completes when a majority has agreed to a transaction that changes nothing. What this session
   * reads from then on is no older than that, and an earlier request of its own whose answer was
   * lost has been carried out by then, or never will be.
   */
  CompletableFuture<Void> barrier() {
    return multi(List.of(Op.check(settings.base(), -1))).thenApply(results -> null);
  }

  /** Completes when this server has caught up with the leader. */
  CompletableFuture<Void> sync() {
    CompletableFuture<Void> answer = begun();
    if (!answer.isDone()) {
      link.sync(
          settings.base(),
          (code, asked, context) -> {
            if (code == Code.OK.intValue() || code == Code.NONODE.intValue()) {
              answer.complete(null);
            } else {
              answer.completeExceptionally(KeeperException.create(Code.get(code), asked));
            }
          },
          null);
    }
    return answer;
  }

  /** Ends the session, and with it whatever stands under it. Blocks for its answer; once. */
  void closeNow() {
    end(null);
    try {
      link.close((int) settings.timeout().toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** As {@link #closeNow}, on a thread of its own: there are few sessions. */
  void close() {
    end(null);
    DaemonThreads.named("pawl-zookeeper-close", this::closeNow).start();
  }

  /** Ends the connection, and leaves the session to run out with whatever stands under it. */
  void abandon() {
    end(null);
    link.abandon();
  }

  @Override
  public String toString() {
    return "session 0x" + Long.toHexString(id()) + " of " + settings;
  }
}
