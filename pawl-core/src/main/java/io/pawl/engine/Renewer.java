package io.pawl.engine;

import io.pawl.concurrent.Time;
import io.pawl.concurrent.Timetable;
import io.pawl.spi.Claim;
import io.pawl.spi.LockStore;
import io.pawl.spi.Standing;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all claims of one client alive with one timer: those that are due go to the store together,
 * in batches of {@link LockStore#renewBatch}. A batch that is not full takes along the claims whose
 * turn comes next, so that claims taken at different times soon travel together. A batch that fails
 * delays no other, nor does one {@linkplain LockStore#renewGroup part of the service}, and a claim
 * that fails alone is tried again alone. No exception ends the round.
 *
 * <p>A claim waits here for one thing at a time: its next renewal, its next attempt after a
 * failure, or the moment at which it is lost.
 */
final class Renewer {

  private static final long FAILED_TURN_PAUSE_NANOS = 20_000_000;

  private static final Logger log = LoggerFactory.getLogger(Renewer.class);

  private final Engine engine;
  private final ReentrantLock mutex = new ReentrantLock();

  /** By when each has to be looked at: not sooner, or sooner in company of others. */
  private final Timetable<LiveClaim> fixed = new Timetable<>();

  private final Timetable<LiveClaim> movable = new Timetable<>();
  private Time.@Nullable Pending round;
  private long roundAt;
  private boolean closed;

  Renewer(Engine engine) {
    this.engine = engine;
  }

  /** Looks at {@code claim} at {@code dueNanos}, instead of whenever it was watched for. */
  void watch(LiveClaim claim, long dueNanos) {
    watch(claim, dueNanos, false);
  }

  /** As {@link #watch}, or up to half a period sooner in company of others. */
  void renewBy(LiveClaim claim, long dueNanos) {
    watch(claim, dueNanos, true);
  }

  private void watch(LiveClaim claim, long dueNanos, boolean mayBeSooner) {
    mutex.lock();
    try {
      tableOf(claim).remove(claim);
      claim.mayBeSooner = mayBeSooner;
      tableOf(claim).add(claim, dueNanos);
      armNoLaterThan(dueNanos);
    } finally {
      mutex.unlock();
    }
  }

  /**
   * Drops {@code claim}. A round that was armed for it stays armed, since locks come and go far
   * more often than they are renewed.
   */
  void forget(LiveClaim claim) {
    mutex.lock();
    try {
      tableOf(claim).remove(claim);
    } finally {
      mutex.unlock();
    }
  }

  boolean isIdle() {
    mutex.lock();
    try {
      return fixed.isEmpty() && movable.isEmpty();
    } finally {
      mutex.unlock();
    }
  }

  void close() {
    mutex.lock();
    try {
      closed = true;
      fixed.clear();
      movable.clear();
      if (round != null) {
        round.cancel();
      }
    } finally {
      mutex.unlock();
    }
  }

  private Timetable<LiveClaim> tableOf(LiveClaim claim) {
    return claim.mayBeSooner ? movable : fixed;
  }

  /** The one whose first claim is due first; an empty one only where both are. */
  private Timetable<LiveClaim> first() {
    boolean isFixed =
        movable.isEmpty() || (!fixed.isEmpty() && fixed.firstDue() - movable.firstDue() <= 0);
    return isFixed ? fixed : movable;
  }

  private void armNoLaterThan(long dueNanos) {
    if (closed || (round != null && roundAt - dueNanos <= 0)) {
      return;
    }
    if (round != null) {
      round.cancel();
      round = null; // should no other be armed, for want of memory, the next claim arms it
    }
    roundAt = dueNanos;
    round = engine.time().after(Math.max(0, dueNanos - engine.time().nanos()), this::round);
  }

  private void round() {
    try {
      long now = engine.time().nanos();
      List<LiveClaim> renew = new ArrayList<>();
      for (LiveClaim claim : takeDue(now)) {
        perform(claim, now, renew);
      }
      int unfilled = renew.size() % engine.store().renewBatch();
      if (unfilled > 0) {
        for (LiveClaim claim : takeSoonDue(now, engine.store().renewBatch() - unfilled)) {
          perform(claim, now, renew);
        }
      }
      send(renew);
    } catch (RuntimeException | Error e) {
      log.error("a round of renewals failed; the next one follows", e);
    } finally {
      rearm();
    }
  }

  /** A claim whose turn failed, say because no thread could be started, has another one soon. */
  private void perform(LiveClaim claim, long now, List<LiveClaim> renew) {
    try {
      switch (claim.duty(now)) {
        case RENEW -> {
          if (!claim.endsForgotten()) {
            renew.add(claim);
          }
        }
        case ASK -> engine.run(claim::ask);
        case LOSE -> claim.loseIfDue();
        case NOTHING -> {}
      }
    } catch (RuntimeException | Error e) {
      log.error("lock '{}': its turn failed; another one follows", claim.claim().lock(), e);
      watch(claim, now + FAILED_TURN_PAUSE_NANOS);
    }
  }

  private List<LiveClaim> takeDue(long now) {
    List<LiveClaim> due = new ArrayList<>();
    mutex.lock();
    try {
      round = null;
      for (var first = first(); !first.isEmpty() && first.firstDue() - now <= 0; first = first()) {
        due.add(first.removeFirst());
      }
    } finally {
      mutex.unlock();
    }
    return due;
  }

  private List<LiveClaim> takeSoonDue(long now, int atMost) {
    List<LiveClaim> soon = new ArrayList<>();
    mutex.lock();
    try {
      while (soon.size() < atMost
          && !movable.isEmpty()
          && movable.firstDue() - now <= movable.first().periodNanos() / 2) {
        soon.add(movable.removeFirst());
      }
    } finally {
      mutex.unlock();
    }
    return soon;
  }

  private void rearm() {
    mutex.lock();
    try {
      if (!first().isEmpty()) {
        armNoLaterThan(first().firstDue());
      }
    } finally {
      mutex.unlock();
    }
  }

  private void send(List<LiveClaim> renew) {
    List<List<LiveClaim>> batches = List.of(renew);
    int sent = 0;
    long now = engine.time().nanos();
    try {
      batches = batches(renew);
      for (; sent < batches.size(); sent++) {
        List<LiveClaim> batch = batches.get(sent);
        engine.runRenewal(() -> sendBatch(batch));
      }
    } catch (RuntimeException | Error e) {
      List<List<LiveClaim>> unsent = batches.subList(sent, batches.size());
      log.error("renewals could not be sent, in {} calls; they are tried again", unsent.size(), e);
      unsent.forEach(batch -> batch.forEach(claim -> tell(claim, now, null, e)));
    }
  }

  private List<List<LiveClaim>> batches(List<LiveClaim> renew) {
    int size = engine.store().renewBatch();
    Map<Integer, List<LiveClaim>> groups = new HashMap<>();
    for (LiveClaim claim : renew) {
      int group = engine.store().renewGroup(claim.claim());
      groups.computeIfAbsent(group, number -> new ArrayList<>()).add(claim);
    }
    List<List<LiveClaim>> batches = new ArrayList<>();
    for (List<LiveClaim> group : groups.values()) {
      for (int from = 0; from < group.size(); from += size) {
        batches.add(group.subList(from, Math.min(group.size(), from + size)));
      }
    }
    return batches;
  }

  private void sendBatch(List<LiveClaim> batch) {
    List<Claim> claims = batch.stream().map(LiveClaim::claim).toList();
    long sentAt = engine.time().nanos();
    StoreCalls.call(() -> engine.store().renew(claims))
        .whenComplete(
            (standings, error) -> {
              for (LiveClaim claim : batch) {
                Standing standing = standings == null ? null : standings.get(claim.claim().id());
                tell(claim, sentAt, standing, error);
              }
            });
  }

  /** What one claim's owner throws keeps the answer from no other claim. */
  private static void tell(
      LiveClaim claim, long sentAt, @Nullable Standing standing, @Nullable Throwable error) {
    try {
      claim.renewed(sentAt, standing, error);
    } catch (RuntimeException | Error e) {
      log.error("lock '{}': telling it of its renewal failed", claim.claim().lock(), e);
    }
  }
}
