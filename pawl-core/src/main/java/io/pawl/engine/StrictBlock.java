package io.pawl.engine;

import io.pawl.spi.ClaimId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waiters in strict order that stood directly behind one another at the store. Each has a line of
 * its own. When the first is granted, the store may name claims of this client that come next:
 * their waiters move over, in that order, and are served under the same hold without a trip each;
 * their own claims are withdrawn. Nobody is overtaken, and clients whose threads take turns soon
 * stand in line as blocks.
 */
final class StrictBlock {

  private StrictBlock() {}

  /**
   * The waiters of {@code followers} move to {@code target}, up to one that cannot: nobody
   * overtakes it. To be called without a lock.
   *
   * @param leader the claim of {@code target} that was granted
   */
  static void gather(
      Registry registry, Line target, LiveClaim leader, List<ClaimId> followers, Effects effects) {
    for (ClaimId follower : followers) {
      Line line = registry.lineOf(follower);
      LiveClaim left = line == null ? null : move(line, target, leader, follower);
      if (left != null) {
        effects.end(left);
      } else if (line != null) {
        break;
      }
    }
  }

  /** Moves the one waiter, unless either side has changed; returns the claim that it leaves. */
  private static @Nullable LiveClaim move(
      Line line, Line target, LiveClaim leader, ClaimId follower) {
    line.mutex.lock();
    try {
      LiveClaim left = line.claims.oldestAsking();
      if (left == null || !left.claim().id().equals(follower) || line.waiters.size() != 1) {
        return null;
      }
      if (!target.mutex.tryLock()) {
        return null; // two lines that gather each other's would wait for each other
      }
      try {
        if (target.claims.oldestAsking() != leader
            || !target.key().isLike(line.key())
            || !line.claims.gathers()) {
          return null;
        }
        target.waiters.add(line.waiters.removeFirst(), target);
      } finally {
        target.mutex.unlock();
      }
      line.claims.removeAsking(left);
      line.retireIfDone();
      return left;
    } finally {
      line.mutex.unlock();
    }
  }

  /**
   * The hold under which a block was to be served ends early: all but the first get lines of their
   * own again. To be called under the line's mutex.
   */
  static void scatter(Registry registry, Line line, Effects effects) {
    if (!line.claims.strict() || line.waiters.size() < 2) {
      return;
    }
    Waiter<?> stays = line.waiters.removeFirst();
    while (!line.waiters.isEmpty()) {
      registry.lineFor(line.key()).startWith(line.waiters.removeFirst(), effects);
    }
    line.waiters.add(stays, line);
  }
}
