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
 * What is alive in one client: the lines in which its threads stand, one for each lock, mode and
 * options, and the claims that they have made. Thread-safe, without a lock of its own.
 */
final class Registry {

  private final Engine engine;
  private final AtomicLong claims = new AtomicLong();
  private final ConcurrentHashMap<LineKey, Line> lines = new ConcurrentHashMap<>();
  private final AtomicLong strictLines = new AtomicLong();
  private final ConcurrentHashMap<ClaimId, LiveClaim> live = new ConcurrentHashMap<>();

  /** Whether a shared claim was ever made: spares others from looking for one. */
  private volatile boolean hasReaders;

  Registry(Engine engine) {
    this.engine = engine;
  }

  /**
   * Puts {@code waiter} into the line for its lock, a private one where order is strict.
   *
   * @return the calls to the store that this takes, if any
   */
  List<Runnable> enter(LineKey key, Waiter<?> waiter) {
    while (true) {
      if (engine.lifecycle().isClosed()) {
        throw Lifecycle.closedException(key.name());
      }
      if (key.mode() instanceof Mode.Shared) {
        hasReaders = true;
      }
      Line line = lineFor(key);
      Effects effects = new Effects();
      if (line.enter(waiter, effects)) {
        if (engine.lifecycle().isClosed()) {
          line.close();
        }
        return effects.performLocally(engine);
      }
    }
  }

  /** The line for {@code key}, a new one where order is strict. */
  Line lineFor(LineKey key) {
    LineKey own =
        key.options().passes()
            ? key
            : new LineKey(key.name(), key.options(), key.mode(), strictLines.incrementAndGet());
    return lines.computeIfAbsent(own, created -> new Line(engine, created));
  }

  /**
   * Gives {@code line} a key of its own, for {@code mode}; whoever asks as those in it did gets a
   * new line.
   */
  LineKey setAside(LineKey key, Mode mode, Line line) {
    long number = key.number() == 0 ? strictLines.incrementAndGet() : key.number();
    LineKey own = new LineKey(key.name(), key.options(), mode, number);
    lines.put(own, line);
    lines.remove(key, line);
    return own;
  }

  /** This client has changed the capacity of a semaphore. */
  void capacityIs(String semaphore, int capacity) {
    for (Line line : lines.values()) {
      if (line.key().name().equals(semaphore)) {
        line.capacityIs(capacity);
      }
    }
  }

  boolean hasSeveralLines() {
    return lines.size() > 1;
  }

  /** The line that asked for {@code id}, while it has not ended. */
  @Nullable Line lineOf(ClaimId id) {
    LiveClaim claim = live.get(id);
    return claim == null ? null : claim.line();
  }

  /**
   * Whether a writer of this client waits for the lock that its readers have, or the other way
   * round; among those that ask with the same options.
   */
  boolean otherSideWaits(LineKey key) {
    if (!hasReaders || key.mode() instanceof Mode.Permits) {
      return false;
    }
    Mode other = key.mode() instanceof Mode.Shared ? Mode.EXCLUSIVE : Mode.SHARED;
    Line line = lines.get(new LineKey(key.name(), key.options(), other));
    return line != null && line.isWanted();
  }

  void retire(LineKey key, Line line) {
    lines.remove(key, line);
  }

  LiveClaim claim(LineKey key, Line line, boolean queues, int tokens, String thread) {
    LockOptions lock = key.options();
    ClaimId id = new ClaimId(engine.clientId(), claims.getAndIncrement());
    Holder holder =
        new Holder(
            ThisProcess.HOST, ThisProcess.PID, thread, engine.options().application(), lock.note());
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
    LiveClaim alive = new LiveClaim(engine, line, claim, lock.renewal());
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
    return lines.isEmpty() && live.isEmpty();
  }

  void forEachClaim(Consumer<LiveClaim> action) {
    live.values().forEach(action);
  }

  Collection<Line> lines() {
    return lines.values();
  }
}
