package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session of ZooKeeper, from its first connection to its end, and the requests made under it.
 * It is used for one length of lease; the package's description says why its time-out is as long as
 * it is. A session that has ended is never used again.
 *
 * <p>Thread-safe. The mutex guards the state, and is never held while a request is made, a stage
 * completes or somebody is told.
 */
final class Session {

  /** What waits for the session to be open, and what becomes of it if it does not open. */
  private record Waiting(Runnable send, Consumer<StoreException> refuse) {}

  private enum State {
    OPENING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  private final Settings settings;
  private final Clock clock;
  private final int timeoutMillis;
  private final long tickNanos;
  private final Consumer<Session> ended;

  private final Link link;
  private final Requests requests;

  private final ReentrantLock mutex = new ReentrantLock();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private final Warmth warmth;
  private State state = State.OPENING;
  private boolean draining;
  private boolean warming;
  private boolean moving;
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
    this.warmth = new Warmth(tickNanos, System.nanoTime());
    mutex.lock(); // events wait until the fields are set
    try {
      Watcher watcher = this::event;
      this.link = new Link(settings, timeoutMillis, watcher);
      this.requests = new Requests(settings, link, watcher);
      this.pulse = clock.every(Math.max(1_000_000, tickNanos / 2), this::pulse);
    } catch (IOException e) {
      throw new StoreUnavailableException(settings.shown() + ": cannot connect: " + e, e);
    } catch (IllegalArgumentException e) {
      throw new StoreConfigurationException(settings.shown() + ": cannot connect", e);
    } finally {
      mutex.unlock();
    }
  }

  int timeoutMillis() {
    return timeoutMillis;
  }

  /** What can be asked of the service under this session. */
  Requests ask() {
    return requests;
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
      requests.changed(event.getPath());
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
      warmth.connected(System.nanoTime());
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
      } else if (waiting.size() >= Requests.MOST) {
        failure =
            StoreUnavailableException.unsent(
                settings.shown() + ": " + Requests.MOST + " requests wait for a connection", null);
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

  /**
   * Sends what waits, one after another; a second caller leaves its own to the first, so that the
   * order stands. No mutex is held meanwhile, since stages may complete at once.
   */
  private void drain() {
    Waiting next = next();
    while (next != null) {
      try {
        next.send().run();
      } catch (RuntimeException e) {
        next.refuse().accept(new StoreException(settings.shown() + ": cannot send: " + e, e));
      } finally {
        mutex.lock();
        draining = false;
        mutex.unlock();
      }
      next = next();
    }
  }

  /** What is to be sent now, which the caller does; null if there is nothing, or it has to wait. */
  private @Nullable Waiting next() {
    mutex.lock();
    try {
      if (draining || state != State.OPEN || waiting.isEmpty()) {
        return null;
      }
      if (warmth.isEnough(System.nanoTime())) {
        draining = true;
        return waiting.remove();
      }
      if (warming) {
        return null;
      }
      warming = true;
    } finally {
      mutex.unlock();
    }
    touch().whenComplete((nothing, error) -> clock.after(warmth.relayNanos(), this::warmed));
    return null;
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

  /** Keeps the session warm, and leaves a server that has fallen silent. */
  private void pulse() {
    boolean open;
    boolean silent;
    boolean deaf;
    mutex.lock();
    try {
      long silentNanos = warmth.silentNanos(System.nanoTime());
      open = state == State.OPEN;
      deaf = state == State.SUSPENDED && silentNanos > grantedMillis() * 1_000_000L / 3 * 4;
      silent = open && !moving && silentNanos > patienceNanos();
      moving = moving || silent;
    } finally {
      mutex.unlock();
    }
    if (deaf) {
      runOut();
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

  /**
   * Nobody trusts it any more, and attempts to connect that the servers hear, though their answers
   * are lost, would keep it alive.
   */
  private void runOut() {
    log.info("{}: nothing was heard for longer than the session lasts; it ends", settings);
    end(null);
    DaemonThreads.named("pawl-zookeeper-close", () -> Farewell.to(List.of(), List.of(this)))
        .start();
  }

  /** How long a server may be silent before the client leaves it. */
  private long patienceNanos() {
    long quarter = timeoutMillis * 1_000_000L / 4;
    return Math.max(3 * tickNanos, Math.min(quarter, settings.timeout().toNanos()));
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
      warmth.touched(sentAt, System.nanoTime());
    } finally {
      mutex.unlock();
    }
  }

  /** Ends the session, and with it whatever stands under it. Blocks for the service's answer. */
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
    DaemonThreads.named("pawl-zookeeper-close", () -> Farewell.to(List.of(this), List.of()))
        .start();
  }

  /**
   * Ends the connection, and leaves the session to run out with whatever stands under it. Blocks
   * until the connection's thread has ended.
   */
  void abandon() {
    end(null);
    link.abandon();
  }

  @Override
  public String toString() {
    return "session 0x" + Long.toHexString(id()) + " of " + settings;
  }
}
