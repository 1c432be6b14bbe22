package io.pawl.etcd;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Ends;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One timer for all that a client has to look after: it runs every 50 to 500 ms while there is
 * something, and not at all while there is nothing. Thread-safe.
 */
final class Upkeep implements AutoCloseable {

  private static final long SHORTEST_NANOS = 50_000_000;
  private static final long LONGEST_NANOS = 500_000_000;
  private static final Logger log = LoggerFactory.getLogger(Upkeep.class);

  /** One round; returns how soon the next one has to come, 0 if none is needed. */
  interface Round {
    long run(long now);
  }

  private final Round round;
  private final ReentrantLock mutex = new ReentrantLock();
  private final ScheduledThreadPoolExecutor timer;
  private boolean armed;

  /** Since the round under way began: it may have missed what it was called for. */
  private boolean woken;

  Upkeep(Round round) {
    this(round, DaemonThreads.numbered("pawl-etcd-timer-"));
  }

  Upkeep(Round round, ThreadFactory threads) {
    this.round = round;
    this.timer = new ScheduledThreadPoolExecutor(1, threads);
    timer.prestartCoreThread(); // a store that cannot have it fails at once, not amid a lock
  }

  /** There is something to look after. */
  void wake() {
    mutex.lock();
    try {
      woken = true;
      if (!armed) {
        arm(SHORTEST_NANOS);
      }
    } finally {
      mutex.unlock();
    }
  }

  private void arm(long nanos) {
    try {
      timer.schedule(this::run, nanos, TimeUnit.NANOSECONDS);
      armed = true;
    } catch (RejectedExecutionException closed) {
      armed = false;
    }
  }

  private void run() {
    long next = LONGEST_NANOS;
    mutex.lock();
    try {
      woken = false;
    } finally {
      mutex.unlock();
    }
    try {
      next = round.run(System.nanoTime());
    } catch (RuntimeException | Error e) {
      log.error("a round of upkeep failed; the next one follows", e);
    } finally { // also where memory is too short to say so
      armAgain(next);
    }
  }

  private void armAgain(long next) {
    mutex.lock();
    try {
      armed = false;
      if (woken) {
        arm(SHORTEST_NANOS);
      } else if (next > 0) {
        arm(Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, next)));
      }
    } finally {
      mutex.unlock();
    }
  }

  /** Waits for a round under way, for at most a second. */
  @Override
  public void close() {
    timer.shutdownNow();
    if (!Ends.of(timer)) {
      log.warn("the timer did not end in a second");
    }
  }
}
