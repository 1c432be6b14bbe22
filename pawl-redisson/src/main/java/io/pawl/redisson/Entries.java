package io.pawl.redisson;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How often the current thread has entered pairs of locks, and not left them. Thread-safe. */
final class Entries {

  private final ThreadLocal<@Nullable Map<String, Integer>> byPair = new ThreadLocal<>();

  int of(String pair) {
    Map<String, Integer> own = byPair.get();
    return own == null ? 0 : own.getOrDefault(pair, 0);
  }

  void entered(String pair) {
    Map<String, Integer> own = byPair.get();
    if (own == null) {
      own = new HashMap<>();
      byPair.set(own);
    }
    own.merge(pair, 1, Integer::sum);
  }

  /** Once; nothing where it is not in. */
  void left(String pair) {
    Map<String, Integer> own = byPair.get();
    if (own != null) {
      own.computeIfPresent(pair, (name, times) -> times == 1 ? null : times - 1);
      if (own.isEmpty()) {
        byPair.remove();
      }
    }
  }
}
