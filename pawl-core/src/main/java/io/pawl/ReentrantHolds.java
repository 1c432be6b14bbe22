package io.pawl;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the current thread has entered as a {@link JavaLock}, by name; one for each client. */
final class ReentrantHolds {

  private final ThreadLocal<@Nullable Map<String, JavaLock.Hold>> byName = new ThreadLocal<>();

  JavaLock.@Nullable Hold of(String name) {
    Map<String, JavaLock.Hold> own = byName.get();
    return own == null ? null : own.get(name);
  }

  void entered(String name, JavaLock.Hold hold) {
    Map<String, JavaLock.Hold> own = byName.get();
    if (own == null) {
      own = new HashMap<>();
      byName.set(own);
    }
    own.put(name, hold);
  }

  void left(String name) {
    Map<String, JavaLock.Hold> own = byName.get();
    if (own != null) {
      own.remove(name);
      if (own.isEmpty()) {
        byName.remove();
      }
    }
  }
}
