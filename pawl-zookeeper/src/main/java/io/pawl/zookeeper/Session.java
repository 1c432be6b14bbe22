package io.pawl.zookeeper;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.KeptInterrupts;
import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreDeniedException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper.States;
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

  private enum State {
    OPENING,
    OPEN,
    SUSPENDED,
    ENDED
  }

  private static final Logger log = LoggerFactory.getLogger(Session.class);

  private final Settings settings;
  private final int timeoutMillis;
  private final long tickNanos;
  private final Farewell farewell;
  private final Consumer<Session> ended;

  private final Link link;
  private final Requests requests;

  private final Admission admission;

  private final ReentrantLock mutex = new ReentrantLock();
  private State state = State.OPENING;
  private boolean moving;

  /** Claims that are made or stand under it. */
  private int users;

  private long lastUse = System.nanoTime();

  /** It is to be closed, and nobody may use it any more. */
  private boolean retired;

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
      Farewell farewell,
      Consumer<Session> ended) {
    this.settings = settings;
    this.timeoutMillis = timeoutMillis;
    this.tickNanos = tickNanos;
    this.negotiation = negotiation;
    this.farewell = farewell;
    this.ended = ended;
    this.admission = new Admission(settings, clock, tickNanos, this::touch);
    mutex.lock(); // events wait until the fields are set
    try {
      Watcher watcher = this::event;
      this.link = new Link(settings, timeoutMillis, watcher);
      this.requests = new Requests(settings, link, watcher);
      this.pulse = clock.every(Math.max(1_000_000, tickNanos / 8 * 3), this::pulse);
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

  // -------------------------------------------------------------- who uses it

  /**
   * A claim is made under it, until the claim {@linkplain #leave leaves}: meanwhile nobody closes
   * it. False if it is closed, or about to be.
   */
  boolean enter() {
    mutex.lock();
    try {
      if (retired || state == State.ENDED) {
        return false;
      }
      users++;
      return true;
    } finally {
      mutex.unlock();
    }
  }

  /** Once for each {@link #enter} that was granted. */
  void leave() {
    mutex.lock();
    try {
      users--;
      lastUse = System.nanoTime();
    } finally {
      mutex.unlock();
    }
  }

  /** Whether nobody uses it, so that it may be closed; from then on nobody can. */
  boolean retire() {
    mutex.lock();
    try {
      retired = retired || users == 0;
      return retired;
    } finally {
      mutex.unlock();
    }
  }

  /** How long nobody has used it; negative if somebody does. */
  long idleNanos(long now) {
    mutex.lock();
    try {
      return users > 0 ? -1 : Math.max(0, now - lastUse);
    } finally {
      mutex.unlock();
    }
  }

  // -------------------------------------------------------------- its life

  private void event(WatchedEvent event) {
    awaitConstruction();
    if (event.getType() != EventType.None) {
      requests.changed(event.getPath(), event.getType() == EventType.NodeDeleted);
      return;
    }
    if (link.getState() == States.AUTH_FAILED) {
      end(new StoreDeniedException(settings.shown() + ": the credentials were refused"));
      return;
    }
    KeeperState said = event.getState();
    if (said != null) {
      said(said);
    }
  }

  /**
   * ZooKeeper's client gives up for good where it is refused: its state tells. It says AuthFailed
   * before each connection too, and goes on, where the process has a JAAS configuration without a
   * section for it: that of another library. It says null where SASL cannot even begin.
   */
  private void said(KeeperState what) {
    switch (what) {
      case SyncConnected -> connected();
      case Disconnected -> suspended();
      case Expired, Closed -> end(null);
      default -> {}
    }
  }

  private void awaitConstruction() {
    mutex.lock();
    mutex.unlock();
  }

  private void connected() {
    StoreException refused = negotiation == null ? null : negotiation.refuses(grantedMillis());
    boolean first;
    mutex.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      first = state == State.OPENING;
      if (refused == null) {
        state = State.OPEN;
        moving = false;
      }
    } finally {
      mutex.unlock();
    }
    if (refused == null) {
      admission.open();
    } else if (first) {
      end(refused);
      close();
    } else { // another server has other bounds, and what stands under it is still trusted
      log.warn("{}: {}", settings, refused.getMessage());
      end(refused);
      if (!farewell.isBegun(List.of(), List.of(this))) {
        abandon();
      }
    }
  }

  private void suspended() {
    mutex.lock();
    try {
      if (state != State.OPEN) {
        return;
      }
      state = State.SUSPENDED;
    } finally {
      mutex.unlock();
    }
    admission.suspend();
  }

  private void end(@Nullable StoreException why) {
    mutex.lock();
    try {
      if (state == State.ENDED) {
        return;
      }
      state = State.ENDED;
      refusal = why;
    } finally {
      mutex.unlock();
    }
    pulse.cancel(false);
    admission.end(
        why == null
            ? StoreUnavailableException.unsent(settings.shown() + ": the session has ended", null)
            : why);
    ended.accept(this);
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
   * once as a rule, and in the order of the calls. What has not been sent within the store's
   * time-out is refused.
   */
  void admit(Runnable send, Consumer<StoreException> refuse) {
    admission.admit(send, refuse);
  }

  /** Refuses what has waited to be sent for too long. */
  void refuseLate() {
    admission.refuseLate();
  }

  /** Keeps the session warm, and leaves a server that has fallen silent. */
  private void pulse() {
    boolean open;
    boolean silent;
    boolean deaf;
    long silentNanos = admission.silentNanos();
    mutex.lock();
    try {
      open = state == State.OPEN;
      deaf = state == State.SUSPENDED && silentNanos > grantedMillis() * 1_000_000L / 3 * 4;
      silent = open && !moving && silentNanos > patienceNanos();
      moving = moving || silent;
    } finally {
      mutex.unlock();
    }
    admission.refuseLate();
    if (deaf) {
      runOut();
    }
    if (silent) {
      log.info("{}: the server is silent; going to another one", settings);
      beginToMove();
    }
    if (open) {
      touch();
    }
  }

  /** Where no thread can be started the next pulse tries again. */
  private void beginToMove() {
    try {
      DaemonThreads.named("pawl-zookeeper-move", this::moveOn).start();
    } catch (Error e) { // of memory, or of threads
      log.warn("{}: no thread can be started to leave the server: {}", settings, e.toString());
      mutex.lock();
      try {
        moving = false;
      } finally {
        mutex.unlock();
      }
    }
  }

  /** With TLS it waits for the connection's last words. */
  private void moveOn() {
    try {
      link.moveOn();
    } catch (IOException | RuntimeException e) {
      log.debug("the connection was broken already", e);
    }
  }

  /**
   * Nobody trusts it any more, and attempts to connect that the servers hear, though their answers
   * are lost, would keep it alive. Where no thread can be started for that the next pulse tries
   * again.
   */
  private void runOut() {
    log.info("{}: nothing was heard for longer than the session lasts; it ends", settings);
    if (farewell.isBegun(List.of(), List.of(this))) {
      end(null);
    }
  }

  /** How long a server may be silent before the client leaves it. */
  private long patienceNanos() {
    long quarter = timeoutMillis * 1_000_000L / 4;
    return Math.max(3 * tickNanos, Math.min(quarter, settings.timeout().toNanos()));
  }

  /** The leader answers it, whichever server we are connected to. */
  private CompletableFuture<Void> touch() {
    long sentAt = System.nanoTime();
    CompletableFuture<Void> answered = new CompletableFuture<>();
    link.sync(
        settings.base(),
        (code, path, context) -> {
          if (code == Code.OK.intValue()) {
            admission.touched(sentAt);
          }
          answered.complete(null);
        },
        null);
    return answered;
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

  /**
   * As {@link #closeNow}, on a thread of its own: there are few sessions. Where none can be started
   * it is left to run out.
   */
  void close() {
    end(null);
    if (!farewell.isBegun(List.of(this), List.of())) {
      abandon();
    }
  }

  /**
   * Ends the connection, and leaves the session to run out with whatever stands under it. Blocks
   * until the connection's thread has ended, whether its own thread is interrupted or not.
   */
  void abandon() {
    end(null);
    try (KeptInterrupts kept = new KeptInterrupts()) {
      kept.clear();
      link.abandon();
    }
  }

  @Override
  public String toString() {
    return "session 0x" + Long.toHexString(id()) + " of " + settings;
  }
}
