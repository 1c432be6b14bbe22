package io.pawl.etcd;

import io.pawl.etcd.gateway.KeyValue;
import io.pawl.etcd.gateway.WatchStream.Event;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The claims of one lock in the order of their creation: what was read at a revision, and every
 * event since. A claim that it has was created at a revision whose events it has heard, and with
 * them all earlier ones; so the first of it that is exclusive is held, without anybody being asked.
 *
 * <p>Not thread-safe.
 */
final class QueueMirror {

  private final long readAt;
  private final Map<String, Long> revisions = new HashMap<>();
  private final TreeMap<Long, String> order = new TreeMap<>();

  /**
   * @param readAt the revision at which {@code claims} were all claims of the lock
   */
  QueueMirror(List<KeyValue> claims, long readAt) {
    this.readAt = readAt;
    claims.forEach(each -> put(each.key(), each.createRevision()));
  }

  private void put(String key, long createRevision) {
    Long known = revisions.put(key, createRevision);
    if (known != null && known != createRevision) {
      order.remove(known, key);
    }
    order.put(createRevision, key);
  }

  /** Hears an event of the lock's claims; each is to be told once, in their order. */
  void hear(Event event) {
    if (event.revision() <= readAt) {
      return;
    }
    if (!event.deleted()) {
      put(event.key(), event.createRevision());
      return;
    }
    Long known = revisions.remove(event.key());
    if (known != null) {
      order.remove(known, event.key());
    }
  }

  int size() {
    return order.size();
  }

  boolean has(String key) {
    return revisions.containsKey(key);
  }

  /** Whether its first claim was created before {@code revision}. */
  boolean beginsBefore(long revision) {
    return !order.isEmpty() && order.firstKey() < revision;
  }

  /** Whether its first claim was created at {@code revision}. */
  boolean beginsAt(long revision) {
    return !order.isEmpty() && order.firstKey() == revision;
  }

  /** The key of the first claim; null if there is none. */
  @Nullable String first() {
    return order.isEmpty() ? null : order.firstEntry().getValue();
  }

  /** The keys of all claims but the first, in their order. */
  Iterable<String> others() {
    return order.isEmpty() ? List.of() : order.tailMap(order.firstKey(), false).values();
  }
}
