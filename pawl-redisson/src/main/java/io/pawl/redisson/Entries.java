package io.pawl.redisson;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How often the current thread has entered pairs of locks, and not left them. Those that it entered
 * for a time are out of it once that is over, and are forgotten as others are entered, so that a
 * thread of a pool keeps no entry for each name that it ever locked. Thread-safe.
 */
final class Entries {

  /** More than come in with each call. */
  private static final int LOOKED_AT = 2;

  private final ThreadLocal<@Nullable Map<String, Entry>> byPair = new ThreadLocal<>();

  /** Into one pair; the current thread's. */
  private static final class Entry {
    private int times;
    private boolean ends = true;
    private long until = System.nanoTime();

    void again(long leaseNanos) {
      times++;
      ends &= leaseNanos > 0;
      until = Math.max(0, System.nanoTime() + leaseNanos - until) + until;
    }

    boolean isOver() {
      return ends && System.nanoTime() - until >= 0;
    }
  }

  private @Nullable Entry entry(String pair) {
    Map<String, Entry> own = byPair.get();
    Entry known = own == null ? null : own.get(pair);
    return known == null || known.isOver() ? null : known;
  }

  int of(String pair) {
    Entry known = entry(pair);
    return known == null ? 0 : known.times;
  }

  /**
   * @param leaseNanos how long the two are kept, from before now on; 0 or less until they are left
   */
  void entered(String pair, long leaseNanos) {
    Map<String, Entry> own = byPair.get();
    if (own == null) {
      own = new LinkedHashMap<>();
      byPair.set(own);
    }
    for (int i = Math.min(LOOKED_AT, own.size()); i > 0; i--) {
      String eldest = own.keySet().iterator().next();
      Entry entry = own.remove(eldest);
      if (entry != null && !entry.isOver()) {
        own.put(eldest, entry);
      }
    }
    Entry known = entry(pair);
    Entry entry = known == null ? new Entry() : known;
    entry.again(leaseNanos);
    own.put(pair, entry);
  }

  /** Once; nothing where it is not in. */
  void left(String pair) {
    Map<String, Entry> own = byPair.get();
    if (own == null) {
      return;
    }
    Entry known = entry(pair);
    if (known == null || --known.times == 0) {
      own.remove(pair);
    }
    if (own.isEmpty()) {
      byPair.remove();
    }
  }

  /** How many pairs of the current thread's are remembered. */
  int size() {
    Map<String, Entry> own = byPair.get();
    return own == null ? 0 : own.size();
  }
}
