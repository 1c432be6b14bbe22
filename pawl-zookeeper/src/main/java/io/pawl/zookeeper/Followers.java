package io.pawl.zookeeper;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The claims of this client that stand behind others of its own. Thread-safe.
 *
 * <p>Exclusive claims may stand directly behind another one: numbers of nodes only grow, so nothing
 * ever comes between two that stood so when the second one joined.
 *
 * <p>Claims for permits are served in the order of their numbers, so one that stands behind others
 * which wait is not held before them. Only the first few look at what stands before them, and when
 * one of these waits no more the next one does. Otherwise hundreds of waiters would each look at
 * hundreds of nodes.
 */
final class Followers {

  /** How many of those that wait for permits look at what stands before them. */
  static final int MOST_LOOKING = 8;

  private record Follower(ClaimId id, String path) {}

  /** Claims of one session that wait for permits of one lock. */
  private record Line(Session session, String lockPath) {}

  /**
   * A claim that waits for permits.
   *
   * @param number of its node
   * @param wake tells it to look
   */
  record Turn(Session session, String lockPath, int number, Runnable wake) {
    private Line line() {
      return new Line(session, lockPath);
    }
  }

  private final Clock clock;

  /** By the path of the node directly before it. */
  private final Map<String, Follower> behind = new ConcurrentHashMap<>();

  private final Map<ClaimId, String> before = new ConcurrentHashMap<>();

  /** Taken after that of a claim. */
  private final ReentrantLock mutex = new ReentrantLock();

  private final Map<Line, NavigableMap<Integer, Turn>> waiting = new HashMap<>();

  /**
   * @param clock on whose thread claims are told to look
   */
  Followers(Clock clock) {
    this.clock = clock;
  }

  /** The claim at {@code path} stands directly behind the one at {@code pathBefore}. */
  void add(ClaimId id, String path, String pathBefore) {
    remove(id);
    before.put(id, pathBefore);
    behind.put(pathBefore, new Follower(id, path));
  }

  /** It stands there no more. */
  void remove(ClaimId id) {
    String pathBefore = before.remove(id);
    if (pathBefore != null) {
      behind.computeIfPresent(
          pathBefore, (path, follower) -> follower.id.equals(id) ? null : follower);
    }
  }

  /** The hold of the claim at {@code path}, which is granted now, with its followers. */
  Standing.Held named(Standing.Held granted, String path) {
    long most = Math.min(GrantRule.MAX_FOLLOWERS, granted.lastToken() - granted.token());
    List<ClaimId> named = new ArrayList<>();
    @Nullable Follower next = behind.get(path);
    while (next != null && named.size() < most) {
      named.add(next.id);
      next = behind.get(next.path);
    }
    return named.isEmpty()
        ? granted
        : new Standing.Held(granted.token(), granted.lastToken(), named);
  }

  /** It waits from now on. */
  void waits(Turn turn) {
    mutex.lock();
    try {
      waiting.computeIfAbsent(turn.line(), line -> new TreeMap<>()).put(turn.number(), turn);
    } finally {
      mutex.unlock();
    }
  }

  /** Whether so few wait before it that it has to look. */
  boolean isToLook(Turn turn) {
    mutex.lock();
    try {
      NavigableMap<Integer, Turn> line = waiting.get(turn.line());
      Turn last = line == null ? null : lastLooking(line);
      return last == null || turn.number() <= last.number();
    } finally {
      mutex.unlock();
    }
  }

  /** It waits no more. */
  void waitsNoMore(Turn turn) {
    Turn next = null;
    mutex.lock();
    try {
      NavigableMap<Integer, Turn> line = waiting.get(turn.line());
      if (line != null && line.remove(turn.number(), turn)) {
        Turn last = lastLooking(line);
        next = last != null && turn.number() < last.number() ? last : null;
        if (line.isEmpty()) {
          waiting.remove(turn.line());
        }
      }
    } finally {
      mutex.unlock();
    }
    if (next != null) {
      clock.after(0, next.wake());
    }
  }

  /** The last one that has to look; null if all have to. */
  private static @Nullable Turn lastLooking(NavigableMap<Integer, Turn> line) {
    return line.values().stream().skip(MOST_LOOKING - 1L).findFirst().orElse(null);
  }
}
