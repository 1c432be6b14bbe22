package io.pawl.engine;

import io.pawl.spi.ClaimId;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waiters in strict order that stood directly behind one another at the store. Each has a queue of
 * its own. When the first is granted, the store may name claims of this client that come next:
 * their waiters move over, in that order, and are served under the same hold without a trip each;
 * their own claims are withdrawn. Nobody is overtaken, and clients whose threads take turns soon
 * stand in the queue as blocks.
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
      Registry registry,
      LocalQueue target,
      LiveClaim leader,
      List<ClaimId> followers,
      Effects effects) {
    for (ClaimId follower : followers) {
      LocalQueue queue = registry.queueOf(follower);
      LiveClaim left = queue == null ? null : move(queue, target, leader, follower);
      if (left != null) {
        left.isNamed();
        effects.end(left);
      } else if (queue != null) {
        break;
      }
    }
  }

  /** Moves the one waiter, unless either side has changed; returns the claim that it leaves. */
  private static @Nullable LiveClaim move(
      LocalQueue queue, LocalQueue target, LiveClaim leader, ClaimId follower) {
    queue.mutex.lock();
    try {
      LiveClaim left = queue.claims.oldestAsking();
      if (left == null
          || !left.claim().id().equals(follower)
          || !left.claim().queues()
          || queue.waiters.size() != 1) {
        return null;
      }
      if (!target.mutex.tryLock()) {
        return null; // two queues that gather each other's would wait for each other
      }
      try {
        if (target.claims.oldestAsking() != leader
            || !target.key().isLike(queue.key())
            || !queue.claims.gathers()) {
          return null;
        }
        target.waiters.add(queue.waiters.removeFirst(), target);
      } finally {
        target.mutex.unlock();
      }
      queue.claims.removeAsking(left);
      queue.retireIfDone();
      return left;
    } finally {
      queue.mutex.unlock();
    }
  }

  /**
   * The hold under which a block was to be served ends early: all but the first get queues of their
   * own again. Nothing is done where it is another hold that ends, such as one that was downgraded
   * before. To be called under the queue's mutex.
   */
  static void scatter(Registry registry, LocalQueue queue, Effects effects) {
    if (!queue.claims.strict() || queue.waiters.size() < 2 || queue.claims.isServed()) {
      return;
    }
    Waiter<?> stays = queue.waiters.removeFirst();
    while (!queue.waiters.isEmpty()) {
      registry.queueFor(queue.key()).startWith(queue.waiters.removeFirst(), effects);
    }
    queue.waiters.add(stays, queue);
  }
}
