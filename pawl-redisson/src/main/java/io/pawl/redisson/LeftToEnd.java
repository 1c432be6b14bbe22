package io.pawl.redisson;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Locks that the current thread took for a time, and may never unlock: as more are taken, those
 * that have run out are forgotten, so that a thread of a pool keeps no entry for each name that it
 * ever locked. One that is unlocked is forgotten at once, and with it its client, which may be
 * closed long before the thread ends. Thread-safe.
 */
final class LeftToEnd {

  /** More than come in with each call. */
  private static final int LOOKED_AT = 2;

  private final ThreadLocal<@Nullable Map<String, PawlRLock>> byName = new ThreadLocal<>();

  /** {@code lock} is about to be taken. */
  void takes(PawlRLock lock) {
    Map<String, PawlRLock> own = byName.get();
    if (own == null) {
      own = new LinkedHashMap<>();
      byName.set(own);
    }
    for (int i = Math.min(LOOKED_AT, own.size()); i > 0; i--) {
      PawlRLock eldest = own.remove(own.keySet().iterator().next());
      if (eldest != null && eldest.isTaken()) {
        own.put(eldest.getName(), eldest);
      }
    }
    own.put(lock.getName(), lock);
  }

  /** {@code lock} was not taken, or has been unlocked; nothing where the thread has it still. */
  void leaves(PawlRLock lock) {
    Map<String, PawlRLock> own = byName.get();
    if (own == null || !own.containsKey(lock.getName()) || lock.isTaken()) {
      return;
    }
    own.remove(lock.getName());
    if (own.isEmpty()) {
      byName.remove();
    }
  }

  /** How many of the current thread's are remembered. */
  int size() {
    Map<String, PawlRLock> own = byName.get();
    return own == null ? 0 : own.size();
  }
}
