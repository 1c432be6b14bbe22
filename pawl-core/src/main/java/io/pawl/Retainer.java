package io.pawl;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.options.LockOptions;
import io.pawl.options.Retention;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Maintainable;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out a client's {@link Retention} once an hour, unless another client did: the lock stays
 * busy for most of the hour, whatever becomes of the client. A thread of its own lives for as long
 * as there is work. The lock is for economy alone, since two may well be at it; so closing waits
 * for nothing of this.
 */
final class Retainer {

  private static final Logger log = LoggerFactory.getLogger(Retainer.class);

  /**
   * When it does.
   *
   * @param first 1 to 10 times this after the start, so that a fleet does not ask all at once
   * @param every after which it does again
   * @param kept for how long the lock keeps other clients from it
   */
  record Pace(Duration first, Duration every, Duration kept) {
    static final Pace USUAL =
        new Pace(Duration.ofMinutes(1), Duration.ofHours(1), Duration.ofMinutes(50));
  }

  private final Engine engine;
  private final Retention retention;
  private final Maintenance maintenance;
  private final String threadName;
  private final Pace pace;
  private final ReentrantLock mutex = new ReentrantLock();
  private boolean stopped;
  private Time.@Nullable Pending next;
  private @Nullable Lease lease;

  Retainer(
      Engine engine, Retention retention, Maintenance maintenance, String threadName, Pace pace) {
    this.engine = engine;
    this.retention = retention;
    this.maintenance = maintenance;
    this.threadName = threadName;
    this.pace = pace;
  }

  /** The same at another pace, to be started. */
  Retainer at(Pace other) {
    return new Retainer(engine, retention, maintenance, threadName, other);
  }

  void start() {
    if (forgetsLedgers() || forgetsLocks()) {
      plan(pace.first.toNanos() * (1 + engine.random().nextInt(10)));
    }
  }

  private void plan(long delayNanos) {
    mutex.lock();
    try {
      if (!stopped) {
        next = engine.time().after(delayNanos, this::begin);
      }
    } finally {
      mutex.unlock();
    }
  }

  private void begin() {
    try {
      DaemonThreads.named(threadName, this::turn).start();
    } catch (OutOfMemoryError noThread) {
      plan(pace.first.toNanos());
    }
  }

  private void turn() {
    try {
      retain();
    } catch (RuntimeException e) {
      if (!engine.lifecycle().isClosed()) {
        log.warn("retention on {} failed; it is tried again", engine.store().describe(), e);
      }
    } finally {
      plan(pace.every.toNanos());
    }
  }

  /** Forgets what may be forgotten, unless another client does; says whether. */
  boolean retain() {
    LockOptions options = LockOptions.defaults().minHold(pace.kept);
    Optional<Lease> taken = new DistributedLock(engine, Retention.LOCK, options).tryAcquire();
    if (taken.isEmpty() || !keep(taken.get())) {
      return false;
    }
    List<RuntimeException> failures = new ArrayList<>(2);
    try (Lease held = taken.get()) {
      run(this::forgetLedgers, failures);
      run(this::forgetIdleLocks, failures);
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.remove(0);
      failures.forEach(first::addSuppressed);
      throw first;
    }
    return true;
  }

  /** That one fails is no reason to leave out the other. */
  private static void run(Runnable part, List<RuntimeException> failures) {
    try {
      part.run();
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  private boolean forgetsLedgers() {
    return !retention.ledgers().isZero()
        && engine.store() instanceof CounterStore counters
        && counters.hasCounters();
  }

  private boolean forgetsLocks() {
    return !retention.idleLocks().isZero()
        && engine.store() instanceof Maintainable store
        && store.isMaintained();
  }

  private void forgetLedgers() {
    Instant before = Instant.ofEpochMilli(engine.time().wallMillis()).minus(retention.ledgers());
    if (forgetsLedgers() && before.isAfter(Instant.EPOCH)) {
      log.debug("forgot {} operations of counters", maintenance.pruneLedgers(before));
    }
  }

  private void forgetIdleLocks() {
    if (forgetsLocks()) {
      log.debug("forgot {} locks", maintenance.purge(retention.idleLocks()));
    }
  }

  /** False where the client is closing: then it is given back, and kept from nobody. */
  private boolean keep(Lease taken) {
    mutex.lock();
    try {
      lease = taken;
      if (!stopped) {
        return true;
      }
    } finally {
      mutex.unlock();
    }
    taken.loan().drop();
    return false;
  }

  /** Nothing begins any more; what is under way ends with its step, and keeps nobody waiting. */
  void stop() {
    Lease held;
    mutex.lock();
    try {
      stopped = true;
      if (next != null) {
        next.cancel();
      }
      held = lease;
    } finally {
      mutex.unlock();
    }
    if (held != null) {
      held.closeAsync();
    }
  }
}
