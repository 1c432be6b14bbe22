package io.pawl.etcd;

import io.pawl.etcd.gateway.Gateway;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The shared leases of one client: one for claims of about the same length. A lease's time is that
 * of its claims, and on top of it what may pass between the last keep-alive and a claim's request:
 * an eighth, at least half a second and at most five, rounded up to whole seconds, of which there
 * are at most 130 different ones. Thread-safe.
 */
final class Leases {

  private static final long LEAST_SPARE_MILLIS = 500;
  private static final long MOST_SPARE_MILLIS = 5_000;

  /** A lease that no claim uses is given back after this time: 30 s. */
  private static final long IDLE_NANOS = 30_000_000_000L;

  private final Gateway gateway;
  private final Keys keys;
  private final ReentrantLock mutex = new ReentrantLock();
  private final Map<Long, SharedLease> bySeconds = new HashMap<>();

  Leases(Gateway gateway, Keys keys) {
    this.gateway = gateway;
    this.keys = keys;
  }

  /** The lease for claims of {@code leaseMillis}. No round trip. */
  SharedLease of(long leaseMillis) {
    long spare = spareMillis(leaseMillis);
    long seconds = rounded((leaseMillis + spare + 999) / 1000);
    mutex.lock();
    try {
      SharedLease lease =
          bySeconds.computeIfAbsent(
              seconds, time -> new SharedLease(gateway, keys, time, spare * 1_000_000 / 3));
      lease.touch(System.nanoTime());
      return lease;
    } finally {
      mutex.unlock();
    }
  }

  private static long spareMillis(long leaseMillis) {
    return Math.max(LEAST_SPARE_MILLIS, Math.min(MOST_SPARE_MILLIS, leaseMillis / 8));
  }

  /** Up to a multiple of a power of two, by an eighth at most. */
  private static long rounded(long seconds) {
    long step = Math.max(1, Long.highestOneBit(seconds) / 8);
    return (seconds + step - 1) / step * step;
  }

  /** Returns how often the leases want {@link #keepAlive}, in nanoseconds; 0 if there are none. */
  long periodNanos() {
    mutex.lock();
    try {
      return bySeconds.values().stream().mapToLong(SharedLease::periodNanos).min().orElse(0);
    } finally {
      mutex.unlock();
    }
  }

  /** Keeps those alive that {@code used} names or that were used of late; gives others back. */
  void keepAlive(Set<SharedLease> used, long now) {
    List<SharedLease> idle = new ArrayList<>();
    Set<SharedLease> kept = new HashSet<>(used);
    mutex.lock();
    try {
      Iterator<SharedLease> each = bySeconds.values().iterator();
      while (each.hasNext()) {
        SharedLease lease = each.next();
        if (used.contains(lease) || lease.usedWithin(IDLE_NANOS, now)) {
          kept.add(lease);
        } else {
          each.remove();
          idle.add(lease);
        }
      }
    } finally {
      mutex.unlock();
    }
    idle.forEach(lease -> lease.revoke(IDLE_NANOS, now));
    kept.forEach(lease -> lease.keepAlive(now));
  }

  /** Gives back those that {@code used} does not name; the others run out. */
  CompletableFuture<?> close(Set<SharedLease> used) {
    List<SharedLease> unused;
    mutex.lock();
    try {
      unused = bySeconds.values().stream().filter(lease -> !used.contains(lease)).toList();
      bySeconds.clear();
    } finally {
      mutex.unlock();
    }
    return CompletableFuture.allOf(
        unused.stream()
            .map(lease -> lease.revoke(0, System.nanoTime()))
            .toArray(CompletableFuture[]::new));
  }
}
