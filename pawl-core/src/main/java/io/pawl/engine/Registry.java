package io.pawl.engine;

import io.pawl.options.LockOptions;
import io.pawl.spi.Claim;
import io.pawl.spi.ClaimId;
import io.pawl.spi.Holder;
import io.pawl.spi.Mode;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What is alive in one client: the queues in which its threads stand, one for each lock, mode and
 * options, and the claims that they have made. Thread-safe, without a lock of its own.
 */
final class Registry {

  /** Some systems ask the network for it, which nobody waits for under a queue's mutex. */
  private final String host = ThisProcess.HOST;

  private final Engine engine;
  private final AtomicLong claims = new AtomicLong();
  private final ConcurrentHashMap<QueueKey, LocalQueue> queues = new ConcurrentHashMap<>();
  private final AtomicLong strictQueues = new AtomicLong();
  private final ConcurrentHashMap<ClaimId, LiveClaim> live = new ConcurrentHashMap<>();

  /** Whether a shared claim was ever made: spares others from looking for one. */
  private volatile boolean hasReaders;

  Registry(Engine engine) {
    this.engine = engine;
  }

  /**
   * Puts {@code waiter} into the queue for its lock, a private one where order is strict.
   *
   * @return the calls to the store that this takes, if any
   */
  List<Runnable> enter(QueueKey key, Waiter<?> waiter) {
    while (true) {
      if (engine.lifecycle().isClosed()) {
        throw Lifecycle.closedException(key.name());
      }
      if (key.mode() instanceof Mode.Shared) {
        hasReaders = true;
      }
      LocalQueue queue = queueFor(key);
      Effects effects = new Effects();
      if (enter(queue, waiter, effects)) {
        if (engine.lifecycle().isClosed()) {
          queue.close();
        }
        return effects.performLocally(engine);
      }
    }
  }

  private boolean enter(LocalQueue queue, Waiter<?> waiter, Effects effects) {
    try {
      return queue.enter(waiter, effects);
    } catch (RuntimeException | Error e) {
      effects.perform(engine, false);
      throw e;
    }
  }

  /** The queue for {@code key}, a new one where order is strict. */
  LocalQueue queueFor(QueueKey key) {
    QueueKey own =
        key.options().passes()
            ? key
            : new QueueKey(key.name(), key.options(), key.mode(), strictQueues.incrementAndGet());
    return queues.computeIfAbsent(own, created -> new LocalQueue(engine, created));
  }

  /**
   * Gives {@code queue} a key of its own, for {@code mode}; whoever asks as those in it did gets a
   * new queue.
   */
  QueueKey setAside(QueueKey key, Mode mode, LocalQueue queue) {
    long number = key.number() == 0 ? strictQueues.incrementAndGet() : key.number();
    QueueKey own = new QueueKey(key.name(), key.options(), mode, number);
    queues.put(own, queue);
    queues.remove(key, queue);
    return own;
  }

  /** This client has changed the capacity of a semaphore. */
  void capacityIs(String semaphore, int capacity) {
    for (LocalQueue queue : queues.values()) {
      if (queue.key().name().equals(semaphore)) {
        queue.capacityIs(capacity);
      }
    }
  }

  boolean hasSeveralQueues() {
    return queues.size() > 1;
  }

  /** The queue that asked for {@code id}, while it has not ended. */
  @Nullable LocalQueue queueOf(ClaimId id) {
    LiveClaim claim = live.get(id);
    return claim == null ? null : claim.queue();
  }

  /**
   * Whether a writer of this client waits for the lock that its readers have, or the other way
   * round; among those that ask with the same options.
   */
  boolean otherSideWaits(QueueKey key) {
    if (!hasReaders || key.mode() instanceof Mode.Permits) {
      return false;
    }
    Mode other = key.mode() instanceof Mode.Shared ? Mode.EXCLUSIVE : Mode.SHARED;
    LocalQueue queue = queues.get(new QueueKey(key.name(), key.options(), other));
    return queue != null && queue.isWanted();
  }

  void retire(QueueKey key, LocalQueue queue) {
    queues.remove(key, queue);
  }

  LiveClaim claim(
      QueueKey key, LocalQueue queue, boolean queues, int tokens, Asker asker, long since) {
    LockOptions lock = key.options();
    ClaimId id = new ClaimId(engine.clientId(), claims.getAndIncrement());
    Holder holder =
        new Holder(
            host,
            ThisProcess.PID,
            asker.thread(),
            engine.options().application(),
            asker.noteBeside(lock.note()));
    Claim claim =
        new Claim(
            key.name(),
            id,
            key.mode(),
            lock.lease(),
            lock.minHold(),
            queues,
            tokens,
            0,
            false,
            holder);
    LiveClaim alive = new LiveClaim(engine, queue, claim, lock.renewal(), since);
    live.put(id, alive);
    return alive;
  }

  void ended(LiveClaim claim) {
    live.remove(claim.claim().id());
    engine.lifecycle().claimEnded();
  }

  boolean hasClaims() {
    return !live.isEmpty();
  }

  boolean isEmpty() {
    return queues.isEmpty() && live.isEmpty();
  }

  void forEachClaim(Consumer<LiveClaim> action) {
    live.values().forEach(action);
  }

  Collection<LocalQueue> queues() {
    return queues.values();
  }
}
