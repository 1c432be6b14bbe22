package io.pawl.etcd.gateway;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Which member of the cluster is asked: all requests go to one, until it fails. When all have
 * failed in turn nobody is asked for a while, so that an outage costs nothing. Thread-safe.
 */
final class Endpoints {

  private static final long FIRST_PAUSE_NANOS = 50_000_000;
  private static final long LONGEST_PAUSE_NANOS = 500_000_000;

  private final List<Endpoint> all;
  private final ReentrantLock mutex = new ReentrantLock();
  private int current;
  private final Set<Endpoint> unreachable = new HashSet<>();
  private long pauseNanos = FIRST_PAUSE_NANOS;
  private long pausesUntil = System.nanoTime();
  private @Nullable Exception reason;

  Endpoints(List<Endpoint> all) {
    this.all = all;
    this.current = ThreadLocalRandom.current().nextInt(all.size());
  }

  int size() {
    return all.size();
  }

  List<Endpoint> all() {
    return all;
  }

  Endpoint current() {
    mutex.lock();
    try {
      return all.get(current);
    } finally {
      mutex.unlock();
    }
  }

  /** Returns why nobody is asked now; null if somebody is. */
  @Nullable Exception pausing() {
    mutex.lock();
    try {
      return System.nanoTime() - pausesUntil < 0 ? reason : null;
    } finally {
      mutex.unlock();
    }
  }

  /** {@code endpoint} answered. */
  void reached() {
    mutex.lock();
    try {
      unreachable.clear();
      pauseNanos = FIRST_PAUSE_NANOS;
    } finally {
      mutex.unlock();
    }
  }

  /** {@code endpoint} is asked no more, for the time being. */
  void failed(Endpoint endpoint) {
    mutex.lock();
    try {
      if (all.get(current).equals(endpoint)) {
        current = (current + 1) % all.size();
      }
    } finally {
      mutex.unlock();
    }
  }

  /** No connection to {@code endpoint} could be made. */
  void unreachable(Endpoint endpoint, Exception why) {
    mutex.lock();
    try {
      failed(endpoint);
      unreachable.add(endpoint);
      if (unreachable.containsAll(all)) {
        unreachable.clear();
        reason = why;
        pausesUntil = System.nanoTime() + pauseNanos;
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      }
    } finally {
      mutex.unlock();
    }
  }
}
