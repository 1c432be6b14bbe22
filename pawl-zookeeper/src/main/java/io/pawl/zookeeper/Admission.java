package io.pawl.zookeeper;

import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait until one that is sent then keeps their session for long enough: while the
 * session is open, and as {@code Warmth} says. One that has waited for the store's time-out is
 * refused, since whoever made it has been told so.
 *
 * <p>Thread-safe. The mutex is never held while a request is made or refused.
 */
final class Admission {

  /** What is sent, and what becomes of it if it is not, which it is not after {@code until}. */
  private record Waiting(Runnable send, Consumer<StoreException> refuse, long until) {}

  private final Settings settings;
  private final Clock clock;
  private final Warmth warmth;
  private final Supplier<CompletableFuture<Void>> touch;

  private final ReentrantLock mutex = new ReentrantLock();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private boolean open;
  private boolean draining;
  private boolean warming;
  private @Nullable StoreException ending;

  /**
   * @param touch asks the leader for a small answer, which is then {@link #touched noted}
   */
  Admission(
      Settings settings, Clock clock, long tickNanos, Supplier<CompletableFuture<Void>> touch) {
    this.settings = settings;
    this.clock = clock;
    this.touch = touch;
    this.warmth = new Warmth(tickNanos, System.nanoTime());
  }

  /** A server has let the session in. */
  void open() {
    mutex.lock();
    try {
      open = true;
      warmth.connected(System.nanoTime());
    } finally {
      mutex.unlock();
    }
    drain();
  }

  void suspend() {
    mutex.lock();
    try {
      open = false;
    } finally {
      mutex.unlock();
    }
  }

  /** Refuses whatever waits, and whatever comes later. */
  void end(StoreException why) {
    List<Waiting> refused;
    mutex.lock();
    try {
      open = false;
      ending = why;
      refused = new ArrayList<>(waiting);
      waiting.clear();
    } finally {
      mutex.unlock();
    }
    refused.forEach(each -> each.refuse().accept(why));
  }

  /** Refuses what has waited for too long. */
  void refuseLate() {
    List<Waiting> late = new ArrayList<>();
    long now = System.nanoTime();
    boolean slow;
    mutex.lock();
    try {
      slow = open && warmth.isTooSlow();
      while (!waiting.isEmpty() && now - waiting.getFirst().until() >= 0) {
        late.add(waiting.removeFirst());
      }
    } finally {
      mutex.unlock();
    }
    if (!late.isEmpty()) {
      StoreException why =
          StoreUnavailableException.unsent(
              settings.shown()
                  + ": no server took requests within "
                  + settings.timeout().toMillis()
                  + " ms"
                  + (slow
                      ? "; the leader's answers take longer than half of a tick: give a longer tick"
                      : ""),
              null);
      late.forEach(each -> each.refuse().accept(why));
    }
  }

  /** Runs {@code send} at once as a rule, and in the order of the calls. */
  void admit(Runnable send, Consumer<StoreException> refuse) {
    StoreException failure;
    mutex.lock();
    try {
      failure = ending;
      if (failure == null && waiting.size() >= Requests.MOST) {
        failure =
            StoreUnavailableException.unsent(
                settings.shown() + ": " + Requests.MOST + " requests wait for a connection", null);
      }
      if (failure == null) {
        waiting.add(new Waiting(send, refuse, System.nanoTime() + settings.timeout().toNanos()));
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
      } catch (RuntimeException | Error e) {
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
      if (draining || !open || waiting.isEmpty()) {
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
    touch.get().whenComplete((nothing, error) -> clock.after(warmth.relayNanos(), this::confirm));
    return null;
  }

  /** Only another answer says that the leader has heard of the first. */
  private void confirm() {
    touch.get().whenComplete((nothing, error) -> warmed());
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

  /** The leader has answered something that was sent then. */
  void touched(long sentAt) {
    mutex.lock();
    try {
      warmth.touched(sentAt, System.nanoTime());
    } finally {
      mutex.unlock();
    }
  }

  /** How long the server has said nothing. */
  long silentNanos() {
    mutex.lock();
    try {
      return warmth.silentNanos(System.nanoTime());
    } finally {
      mutex.unlock();
    }
  }

  /**
   * What the leader has answered a session of late, and whether that is enough for a request: the
   * package's description says why. Guarded by the mutex of its session.
   */
  static final class Warmth {

    /** A request that the leader has answered. */
    private record Touch(long sentAt, long answeredAt) {}

    private final long tickNanos;

    /** Of which the server that we are connected to may have to tell the leader yet. */
    private final ArrayDeque<Touch> touches = new ArrayDeque<>();

    /** The leader keeps the session for its time-out from then on, at least. */
    private long keptFrom;

    private long lastAnswer;

    /** How long the last answer took. */
    private long answerNanos;

    /** Of a session that begins now, and that the leader itself notes. */
    Warmth(long tickNanos, long now) {
      this.tickNanos = tickNanos;
      this.lastAnswer = now;
      this.keptFrom = now;
    }

    /** How much longer than a lease its session has to be. */
    static long spareNanos(long tickNanos) {
      return tickNanos / 4 * 7;
    }

    /** Within this time a leader asks its followers whom they have heard of. */
    long relayNanos() {
      return tickNanos / 8 * 5;
    }

    /**
     * Whether the leader has heard of the session so lately that it keeps the session for a lease
     * from now on, though the server that we are connected to should fail at once.
     */
    boolean isEnough(long now) {
      return now - keptFrom <= spareNanos(tickNanos);
    }

    /** Whether no answer comes soon enough for a request, however often the leader is asked. */
    boolean isTooSlow() {
      return 2 * answerNanos + relayNanos() > spareNanos(tickNanos);
    }

    void touched(long sentAt, long now) {
      lastAnswer = now;
      answerNanos = now - sentAt;
      Touch first = touches.peek();
      while (first != null && sentAt - first.answeredAt >= relayNanos()) {
        keptFrom = first.sentAt - keptFrom > 0 ? first.sentAt : keptFrom;
        touches.remove();
        first = touches.peek();
      }
      touches.add(new Touch(sentAt, now));
    }

    /** A server has let the session in. What the one before had yet to tell may be lost. */
    void connected(long now) {
      lastAnswer = now;
      touches.clear();
    }

    /** How long the server has said nothing. */
    long silentNanos(long now) {
      return now - lastAnswer;
    }
  }
}
