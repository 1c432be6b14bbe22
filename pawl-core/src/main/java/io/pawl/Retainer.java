package io.pawl;

import io.pawl.concurrent.DaemonThreads;
import io.pawl.concurrent.Time;
import io.pawl.engine.Engine;
import io.pawl.error.PawlException;
import io.pawl.options.LockOptions;
import io.pawl.options.Retention;
import io.pawl.spi.CounterStore;
import io.pawl.spi.Maintainable;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out a client's {@link Retention} once an hour, unless another client did: whoever has the
 * lock keeps it for most of the hour. A thread of its own lives for as long as there is work. The
 * lock is for economy alone, since two may well be at it; so closing gives it back at once.
 */
final class Retainer {

  private static final Logger log = LoggerFactory.getLogger(Retainer.class);

  private static final long HOUR_NANOS = Duration.ofHours(1).toNanos();

  /** The first time comes after 1 to 10 minutes, so that a fleet does not ask all at once. */
  private static final long FIRST_NANOS = Duration.ofMinutes(1).toNanos();

  private static final Duration KEPT = Duration.ofMinutes(50);

  private final Engine engine;
  private final Retention retention;
  private final Maintenance maintenance;
  private final String threadName;
  private final ReentrantLock mutex = new ReentrantLock();
  private boolean stopped;
  private Time.@Nullable Pending next;
  private @Nullable Lease lease;

  Retainer(Engine engine, Retention retention, Maintenance maintenance, String threadName) {
    this.engine = engine;
    this.retention = retention;
    this.maintenance = maintenance;
    this.threadName = threadName;
  }

  void start() {
    if (!retention.isNone()) {
      plan(FIRST_NANOS * (1 + engine.random().nextInt(10)));
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
      plan(FIRST_NANOS);
    }
  }

  private void turn() {
    try {
      retain();
    } catch (PawlException | IllegalStateException e) {
      if (!engine.lifecycle().isClosed()) {
        log.warn("retention on {} failed; it is tried again", engine.store().describe(), e);
      }
    } finally {
      plan(HOUR_NANOS);
    }
  }

  /** Forgets what may be forgotten, unless another client does; says whether. */
  boolean retain() {
    LockOptions options = LockOptions.defaults().minHold(KEPT);
    Optional<Lease> taken = new DistributedLock(engine, Retention.LOCK, options).tryAcquire();
    if (taken.isEmpty() || !keep(taken.get())) {
      return false;
    }
    try (Lease held = taken.get()) {
      if (!retention.ledgers().isZero() && engine.store() instanceof CounterStore) {
        Instant before = Instant.ofEpochMilli(engine.time().wallMillis());
        long pruned = maintenance.pruneLedgers(before.minus(retention.ledgers()));
        log.debug("forgot {} operations of counters", pruned);
      }
      if (!retention.idleLocks().isZero() && engine.store() instanceof Maintainable) {
        log.debug("forgot {} locks", maintenance.purge(retention.idleLocks()));
      }
      return true;
    }
  }

  /** False where the client is closing: then it is given back. */
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
    taken.close();
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
