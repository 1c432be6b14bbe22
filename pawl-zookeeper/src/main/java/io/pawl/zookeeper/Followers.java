package io.pawl.zookeeper;

import io.pawl.spi.ClaimId;
import io.pawl.spi.Standing;
import io.pawl.spi.rule.GrantRule;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive claims of this client that stand directly behind another one of its own. Numbers of
 * nodes only grow, so nothing ever comes between two that stood so when the second one joined.
 * Thread-safe, without mutexes.
 */
final class Followers {

  private record Follower(ClaimId id, String path) {}

  /** By the path of the node directly before it. */
  private final Map<String, Follower> behind = new ConcurrentHashMap<>();

  private final Map<ClaimId, String> before = new ConcurrentHashMap<>();

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

  /** How many are known. */
  int size() {
    return behind.size();
  }
}
