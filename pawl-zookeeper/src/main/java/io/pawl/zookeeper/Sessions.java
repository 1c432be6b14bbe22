package io.pawl.zookeeper;

import io.pawl.error.StoreConfigurationException;
import io.pawl.error.StoreException;
import io.pawl.error.StoreUnavailableException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one store: one for each length of lease in use, and one for whatever has no
 * lease. Thread-safe.
 */
final class Sessions {

  /** How many lengths of lease may be in use at a time. */
  static final int MOST = 64;

  /** ZooKeeper's client multiplies the time-out by four, in 32 bits. */
  private static final int MOST_MILLIS = Integer.MAX_VALUE / 4;

  private static final int BASE_MILLIS = 4_000;
  private static final long DEFAULT_TICK_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final Settings settings;
  private final Clock clock;
  private final Farewell farewell;
  private final Consumer<Session> ended;

  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<Long, Session> byLease = new HashMap<>();
  private @Nullable Session base;

  /** Those that nobody used and whose end has yet to begin, each on the thread that replaced it. */
  private final Set<Session> replaced = new HashSet<>();

  private long tickNanos = DEFAULT_TICK_NANOS;
  private boolean closed;

  /**
   * @param ended told of each session that has ended
   */
  Sessions(Settings settings, Clock clock, Consumer<Session> ended) {
    this(settings, clock, new Farewell(), ended);
  }

  Sessions(Settings settings, Clock clock, Farewell farewell, Consumer<Session> ended) {
    this.settings = settings;
    this.clock = clock;
    this.farewell = farewell;
    this.ended = ended;
    if (settings.tick() != null) {
      tickNanos = settings.tick().toNanos();
    }
  }

  long tickNanos() {
    return tickNanos;
  }

  /** The ensemble's shortest session time-out is two ticks, unless it is configured apart. */
  void learnTick() {
    if (settings.tick() == null) {
      long half = TimeUnit.MILLISECONDS.toNanos(base().grantedMillis()) / 2;
      tickNanos = Math.max(DEFAULT_TICK_NANOS, half);
    }
  }

  /** The session under which nothing stands. */
  Session base() {
    mutex.lock();
    try {
      checkOpen();
      Session known = base;
      if (known == null || known.isEnded()) {
        known =
            new Session(settings, clock, BASE_MILLIS, DEFAULT_TICK_NANOS, null, farewell, ended);
        base = known;
      }
      return known;
    } finally {
      mutex.unlock();
    }
  }

  /**
   * The session for a claim of a lease, which has to {@linkplain Session#leave leave} it: until
   * then it is not closed as idle.
   *
   * @throws StoreException if the lease does not fit into the ensemble's bounds, or too many
   *     lengths are in use
   */
  Session of(long leaseMillis) {
    Session idle = null;
    mutex.lock();
    try {
      checkOpen();
      Session known = byLease.get(leaseMillis);
      if (known != null && known.enter()) {
        return known;
      }
      byLease.values().removeIf(Session::isEnded);
      if (byLease.size() >= MOST) {
        idle = idle();
      }
      Session opened = opened(leaseMillis);
      opened.enter();
      byLease.put(leaseMillis, opened);
      return opened;
    } finally {
      mutex.unlock();
      if (idle != null) {
        end(idle);
      }
    }
  }

  private void end(Session idle) {
    try {
      idle.close();
    } finally {
      mutex.lock();
      replaced.remove(idle);
      mutex.unlock();
    }
  }

  private void checkOpen() {
    if (closed) {
      throw StoreUnavailableException.unsent(settings.shown() + ": the store is closed", null);
    }
  }

  /** The one that was idle for the longest time, which nobody is given any more. */
  private Session idle() {
    long now = System.nanoTime();
    Session longest = null;
    long longestNanos = -1;
    for (Session each : byLease.values()) {
      long idleNanos = each.idleNanos(now);
      if (idleNanos > longestNanos) {
        longest = each;
        longestNanos = idleNanos;
      }
    }
    if (longest == null || !longest.retire()) {
      throw new StoreConfigurationException(
          settings.shown()
              + ": claims of "
              + MOST
              + " different leases are alive, and each length needs a session of its own; use"
              + " fewer lengths");
    }
    Session found = longest;
    byLease.values().removeIf(each -> each == found);
    replaced.add(found);
    return found;
  }

  private Session opened(long leaseMillis) {
    long spareMillis = spareMillis();
    long wanted = leaseMillis + spareMillis;
    if (wanted > MOST_MILLIS) {
      throw new StoreConfigurationException(
          settings.shown()
              + ": a lease of "
              + leaseMillis
              + " ms is longer than ZooKeeper's client can keep a session; use one of "
              + (MOST_MILLIS - spareMillis)
              + " ms or less, renewal keeps it alive");
    }
    return new Session(
        settings,
        clock,
        (int) wanted,
        tickNanos,
        granted -> refused(leaseMillis, spareMillis, granted),
        farewell,
        ended);
  }

  /** By how much a session outlasts its lease. */
  long spareMillis() {
    return TimeUnit.NANOSECONDS.toMillis(Admission.Warmth.spareNanos(tickNanos)) + 1;
  }

  private @Nullable StoreException refused(long leaseMillis, long spareMillis, int granted) {
    long wanted = leaseMillis + spareMillis;
    if (granted == wanted) {
      return null;
    }
    boolean tooLong = granted < wanted;
    return new StoreConfigurationException(
        settings.shown()
            + ": a lease of "
            + leaseMillis
            + " ms needs a session time-out of "
            + wanted
            + " ms, and the ensemble allows "
            + (tooLong ? "at most " : "at least ")
            + granted
            + " ms; use a lease of "
            + Math.max(0, granted - spareMillis)
            + " ms or "
            + (tooLong
                ? "less, or raise maxSessionTimeout"
                : "more, or lower minSessionTimeout or tickTime")
            + " of the ensemble, and give tick=<its tickTime> in the URL");
  }

  /** Refuses the requests that have waited to be sent for the store's time-out. */
  void refuseLate() {
    List<Session> open;
    mutex.lock();
    try {
      open = new ArrayList<>(byLease.values());
    } finally {
      mutex.unlock();
    }
    open.forEach(Session::refuseLate);
  }

  /** Ends all, within 5 s; those under which something stands are left to run out. */
  void close() {
    List<Session> open = new ArrayList<>();
    mutex.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      open.addAll(byLease.values());
      if (base != null) {
        open.add(base);
      }
      open.addAll(replaced);
      byLease.clear();
    } finally {
      mutex.unlock();
    }
    Map<Boolean, List<Session>> unused =
        open.stream().collect(Collectors.partitioningBy(Session::retire));
    farewell.last(unused.getOrDefault(true, List.of()), unused.getOrDefault(false, List.of()));
  }
}
